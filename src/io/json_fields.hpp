// A JSON text as a tree whose nodes know their path, so that messages can point at what is wrong:
// "model.json: factors[3].scope[1]: unknown variable 'x9'".
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace treesample {

// How deep lists and objects may be nested. The formats that are read need five levels. Without a limit, a file full of
// brackets would crash the program, because functions on nested values are recursive.
inline constexpr int kMaxJsonDepth = 64;

struct JsonProblem {
  std::string message;
  std::optional<std::size_t> offset;  // position in the text, if known
  bool is_syntax = true;              // true if the text is not JSON at all
};

// Parses every JSON text that is read: from a file, a program or a server. Throws JsonProblem if the text is not JSON,
// is nested deeper than kMaxJsonDepth, or has a key twice in one object.
nlohmann::json parse_json(std::string_view text);
// The same, but throws Error (kParse) with "name:line: ...".
nlohmann::json parse_json_text(std::string_view text, std::string_view source_name);

// Walks through a JSON text piece by piece. Pieces for which a subclass has no function are skipped. The walk ends at
// the end of the text, at the first mistake, or when a function returns false.
class JsonWalk : public nlohmann::json_sax<nlohmann::json> {
 public:
  virtual bool scalar() { return true; }  // a number, string, truth value or null
  bool null() override { return scalar(); }
  bool boolean(bool) override { return scalar(); }
  bool number_integer(number_integer_t) override { return scalar(); }
  bool number_unsigned(number_unsigned_t) override { return scalar(); }
  bool number_float(number_float_t, const std::string&) override { return scalar(); }
  bool string(std::string&) override { return scalar(); }
  bool binary(nlohmann::json::binary_t&) override { return scalar(); }
  bool key(std::string&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override { return false; }
};

// A value in the form in which messages show it: its text, shortened, or its kind if it is a list or an object.
std::string shown(const nlohmann::json& value);

class JsonField {
 public:
  // Both arguments must outlive the field.
  JsonField(const nlohmann::json& value, std::string_view source_name) : value_(&value), source_name_(source_name) {}

  [[nodiscard]] const nlohmann::json& json() const { return *value_; }
  // Throws kParse with the file and the path.
  [[noreturn]] void fail(std::string_view message) const;

  // Each throws unless the value has that form. Bounds are inclusive.
  void require_object(std::initializer_list<std::string_view> allowed_keys) const;
  [[nodiscard]] int array_size() const;
  [[nodiscard]] std::string text() const;  // must not be empty
  [[nodiscard]] double number(double low, double high) const;
  [[nodiscard]] int integer(int low, int high) const { return whole(low, high); }
  // The same for any integer type. The conversion of the JSON library cuts off digits and wraps around, and its result
  // is undefined for numbers such as 1e300.
  template <std::integral Number>
  [[nodiscard]] Number whole(Number low = 0, Number high = std::numeric_limits<Number>::max()) const {
    const auto is_within = [&](auto number) {
      return std::cmp_greater_equal(number, low) && std::cmp_less_equal(number, high);
    };
    if (value_->is_number_unsigned() ? is_within(value_->get<std::uint64_t>())
                                     : value_->is_number_integer() && is_within(value_->get<std::int64_t>())) {
      return value_->get<Number>();
    }
    fail_expected("a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  // A real number or the string "-inf".
  [[nodiscard]] double log_value() const;

  [[nodiscard]] bool has(const char* key) const { return value_->contains(key); }
  [[nodiscard]] JsonField at(const std::string& key) const;  // throws if there is none
  [[nodiscard]] JsonField at(int index) const;

 private:
  [[noreturn]] void fail_expected(std::string_view expected) const;

  const nlohmann::json* value_;
  std::string_view source_name_;
  std::string path_;
};

}  // namespace treesample
