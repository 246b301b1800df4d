#include "json_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "source_text.hpp"
#include "treesample/error.hpp"
#include "treesample/io/json_text.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {

using nlohmann::json;

namespace {

constexpr std::size_t kShownPath = 100;
constexpr std::size_t kShownMessage = 250;
constexpr std::size_t kShownValue = 40;

// Counts brackets outside strings, which gives the nesting depth of a JSON text.
void check_depth(std::string_view text) {
  int depth = 0;
  bool is_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') is_string = !is_string;
    if (is_string) {
      i += c == '\\' ? 1 : 0;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth) {
        throw JsonProblem{fmt::format("lists and objects are nested deeper than the allowed {} levels", kMaxJsonDepth),
                          i, /*is_syntax=*/false};
      }
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
}

// The library keeps the last of two equal keys, but a text with two equal keys is a mistake. (The library's parser with
// a callback would notice it too, but takes a time quadratic in the length of lists.)
class KeyCheck final : public JsonWalk {
 public:
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    return true;
  }
  bool key(std::string& name) override {
    if (keys_.back().insert(name).second) return true;
    throw JsonProblem{fmt::format("the key {} is twice in one object", shown(json(name))), {}, /*is_syntax=*/false};
  }

 private:
  std::vector<std::set<std::string>> keys_;  // of the objects that are open
};

}  // namespace

json parse_json(std::string_view text) {
  check_depth(text);
  KeyCheck keys;
  json::sax_parse(text.begin(), text.end(), &keys);  // other mistakes are found again below
  // "[...] parse error at line 3, column 5: syntax error while ...": the position is cut out, because our message gives
  // it itself.
  const auto reason = [](std::string_view what, std::string_view start) {
    const std::size_t found = what.find(start);
    return "not JSON: " +
           shortened(what.substr(found == std::string_view::npos ? 0 : found + start.size()), kShownMessage);
  };
  try {
    return json::parse(text.begin(), text.end());
  } catch (const json::parse_error& error) {
    throw JsonProblem{reason(error.what(), ": "), std::min<std::size_t>(error.byte, text.size())};
  } catch (const json::exception& error) {  // a number beyond the range of a double
    throw JsonProblem{reason(error.what(), "] "), {}};
  }
}

json parse_json_text(std::string_view text, std::string_view source_name) {
  try {
    return parse_json(text);
  } catch (const JsonProblem& problem) {
    if (problem.offset) throw_parse_error({text, source_name}, *problem.offset, problem.message);
    throw Error(ErrorCode::kParse, fmt::format("{}: {}", source_name, problem.message));
  }
}

std::string shown(const json& value) {
  if (value.is_structured() && value.empty()) return value.is_array() ? "[]" : "{}";
  if (value.is_array()) return "a list of " + counted(static_cast<std::int64_t>(value.size()), "value");
  if (value.is_object()) return "an object of " + counted(static_cast<std::int64_t>(value.size()), "field");
  return shortened(json_text(value), kShownValue);
}

void JsonField::fail(std::string_view message) const {
  throw Error(ErrorCode::kParse, fmt::format("{}: {}{}{}", source_name_, shortened(path_, kShownPath),
                                             path_.empty() ? "" : ": ", shortened(message, kShownMessage)));
}

void JsonField::fail_expected(std::string_view expected) const {
  fail(fmt::format("allowed is {}, found {}", expected, shown(*value_)));
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
