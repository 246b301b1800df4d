#include "io/small_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "io/json_fields.hpp"
#include "treesample/error.hpp"
#include "treesample/reduce/evidence.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

using nlohmann::json;

constexpr double kLeast = std::numeric_limits<double>::min();

// Finds a number that is not 0 but so small that a double represents it with fewer digits than others, or as 0. It
// looks at the lists and fields with this name, or at everything if the name is empty. The text must be JSON.
class SmallValueSearch final : public JsonWalk {
 public:
  explicit SmallValueSearch(std::string_view name) : name_(name), is_inside_(name.empty()) {}

  std::string found;

  bool number_float(double value, const std::string& text) override {
    const bool is_zero = text.find_first_of("123456789") >= text.find_first_of("eE");
    if (is_inside_ && !is_zero && std::abs(value) < kLeast) found = text;
    return found.empty();
  }
  bool key(std::string& name) override {
    is_inside_ = name_.empty() || name == name_;
    return true;
  }
  bool end_array() override {
    is_inside_ = name_.empty();
    return true;
  }

 private:
  std::string_view name_;
  bool is_inside_;
};

std::string first_small(std::string_view text, std::string_view name) {
  SmallValueSearch search(name);
  json::sax_parse(text.begin(), text.end(), &search);
  return search.found;
}

bool is_small(const json& entry) { return entry.is_number_float() && entry.get<double>() < kLeast; }

// True if there is a value that perhaps was not 0 in the file.
bool has_small_value(const json& factors) {
  return std::any_of(factors.begin(), factors.end(), [](const json& factor) {
    const auto values = factor.find("values");
    return values != factor.end() && std::any_of(values->begin(), values->end(), is_small);
  });
}

// The same for numbers at any depth.
bool has_small_number(const json& part) {
  if (!part.is_structured()) return is_small(part);
  return std::any_of(part.begin(), part.end(), has_small_number);
}

}  // namespace

void check_small_values(const json& factors, std::string_view text, std::string_view source_name) {
  if (!has_small_value(factors)) return;
  const std::string found = first_small(text, "values");
  if (found.empty()) return;
  throw Error(ErrorCode::kParse, fmt::format("{}: the number {} in a list of values is too small for a double, allowed "
                                             "are 0 and numbers from {:.3g} up; write the list as log_values",
                                             source_name, shortened(found, 40), kLeast));
}

void check_small_weights(const json& evidence, std::string_view text, std::string_view source_name) {
  if (!has_small_number(evidence)) return;
  const std::string found = first_small(text, "");
  if (found.empty()) return;
  throw Error(ErrorCode::kParse,
              fmt::format("{}: a weight is {}, allowed are {}", source_name, shortened(found, 40), kAllowedWeights));
}

}  // namespace treesample
