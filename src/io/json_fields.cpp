#include "json_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "source_text.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

using nlohmann::json;

namespace {

constexpr std::size_t kShownPath = 100;
constexpr std::size_t kShownMessage = 250;

}  // namespace

std::string shortened(std::string_view text, std::size_t limit) {
  const bool is_long = text.size() > limit;
  if (is_long) {
    while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0U) == 0x80U) --limit;
    text = text.substr(0, limit);
  }
  std::string shown(text);
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  }
  return shown + (is_long ? "..." : "");
}

json parse_json_text(std::string_view text, std::string_view source_name) {
  const SourceText source{text, source_name};
  // The library keeps the last of two equal keys; a model file with two is a mistake.
  std::vector<std::set<std::string>> keys;
  const auto check_keys = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second) {
      throw Error(ErrorCode::kParse, fmt::format("{}: the key {} is twice in one object", source_name,
                                                 shortened(parsed.dump(), kShownPath)));
    }
    return true;
  };
  try {
    return json::parse(text.begin(), text.end(), check_keys);
  } catch (const json::parse_error& error) {
    // "[...] parse error at line 3, column 5: syntax error while ...": the line is ours to say.
    const std::string_view what = error.what();
    const std::size_t colon = what.find(": ");
    throw_parse_error(
        source, std::min<std::size_t>(error.byte, text.size()),
        fmt::format("not JSON: {}",
                    shortened(what.substr(colon == std::string_view::npos ? 0 : colon + 2), kShownMessage)));
  } catch (const json::exception& error) {  // a number beyond the range of a double
    const std::string_view what = error.what();
    throw Error(ErrorCode::kParse, fmt::format("{}: not JSON: {}", source_name,
                                               shortened(what.substr(what.find("] ") + 2), kShownMessage)));
  }
}

void JsonField::fail(std::string_view message) const {
  throw Error(ErrorCode::kParse, fmt::format("{}: {}{}{}", source_name_, shortened(path_, kShownPath),
                                             path_.empty() ? "" : ": ", shortened(message, kShownMessage)));
}

void JsonField::fail_expected(std::string_view expected) const {
  constexpr std::size_t kShownBytes = 40;
  const std::string found = value_->dump(-1, ' ', true);  // ASCII
  fail(fmt::format("allowed is {}, found {}{}", expected, found.substr(0, kShownBytes),
                   found.size() > kShownBytes ? "..." : ""));
}

void JsonField::require_object(std::initializer_list<std::string_view> allowed_keys) const {
  if (!value_->is_object()) fail_expected("an object");
  for (const auto& [key, value] : value_->items()) {
    if (std::find(allowed_keys.begin(), allowed_keys.end(), key) == allowed_keys.end()) {
      fail(fmt::format("unknown field '{}', allowed are {}", key, fmt::join(allowed_keys, ", ")));
    }
  }
}

int JsonField::array_size() const {
  if (!value_->is_array()) fail_expected("an array");
  return static_cast<int>(value_->size());
}

std::string JsonField::text() const {
  if (!value_->is_string() || value_->get_ref<const std::string&>().empty()) fail_expected("a text that is not empty");
  return value_->get<std::string>();
}

double JsonField::number(double low, double high) const {
  const double number = value_->is_number() ? value_->get<double>() : std::nan("");
  if (std::isnan(number) || number < low || number > high)
    fail_expected(fmt::format("a number from {} to {}", low, high));
  return number;
}

int JsonField::integer(int low, int high) const {
  const bool is_inside = value_->is_number_integer() &&
                         (value_->is_number_unsigned() ? value_->get<std::uint64_t>() <= std::uint64_t(INT32_MAX)
                                                       : value_->get<std::int64_t>() >= INT32_MIN);
  const int number = is_inside ? value_->get<int>() : 0;
  if (!is_inside || number < low || number > high) {
    fail_expected(fmt::format("a whole number from {} to {}", low, high));
  }
  return number;
}

double JsonField::log_value() const {
  if (value_->is_number()) return value_->get<double>();
  if (!value_->is_string() || value_->get_ref<const std::string&>() != "-inf") {
    fail_expected("a number or the text \"-inf\"");
  }
  return kNegInf;
}

JsonField JsonField::at(const std::string& key) const {
  const auto found = value_->find(key);
  if (found == value_->end()) fail(fmt::format("the field '{}' is missing", key));
  JsonField field(*found, source_name_);
  field.path_ = path_.empty() ? key : path_ + "." + key;
  return field;
}

JsonField JsonField::at(int index) const {
  JsonField field((*value_)[index], source_name_);
  field.path_ = fmt::format("{}[{}]", path_, index);
  return field;
}

}  // namespace treesample
