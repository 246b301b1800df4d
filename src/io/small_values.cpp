#include "io/small_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "treesample/error.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

using nlohmann::json;

// Finds a number in a list of "values" that is not 0 but so small that a double represents it with fewer digits than
// others, or as 0. The text must be JSON.
class SmallValueSearch final : public nlohmann::json_sax<json> {
 public:
  std::string found;

  bool number_float(double value, const std::string& text) override {
    const bool is_zero = text.find_first_of("123456789") >= text.find_first_of("eE");
    if (is_values_ && !is_zero && std::abs(value) < std::numeric_limits<double>::min()) found = text;
    return found.empty();
  }
  bool key(std::string& name) override {
    is_values_ = name == "values";
    return true;
  }
  bool end_array() override {
    is_values_ = false;
    return true;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(json::binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override { return false; }

 private:
  bool is_values_ = false;
};

// Whether there is a value that was perhaps not 0 in the file.
bool has_small_value(const json& factors) {
  const auto is_small = [](const json& entry) {
    return entry.is_number_float() && entry.get<double>() < std::numeric_limits<double>::min();
  };
  return std::any_of(factors.begin(), factors.end(), [&](const json& factor) {
    const auto values = factor.find("values");
    return values != factor.end() && std::any_of(values->begin(), values->end(), is_small);
  });
}

}  // namespace

void check_small_values(const json& factors, std::string_view text, std::string_view source_name) {
  if (!has_small_value(factors)) return;
  SmallValueSearch search;
  json::sax_parse(text.begin(), text.end(), &search);
  if (search.found.empty()) return;
  throw Error(ErrorCode::kParse,
              fmt::format("{}: the number {} in a list of values is too small for a double, allowed "
                          "are 0 and numbers from {:.3g} up; write the list as log_values",
                          source_name, shortened(search.found, 40), std::numeric_limits<double>::min()));
}

}  // namespace treesample
