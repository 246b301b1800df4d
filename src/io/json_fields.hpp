// A JSON text as a tree whose nodes know their path, so that messages can point at what is wrong:
// "model.json: factors[3].scope[1]: unknown variable 'x9'".
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace treesample {

// For messages, which quote names from the file: one line, at most `limit` bytes, cut between characters.
std::string shortened(std::string_view text, std::size_t limit);

// The parsed text. Throws kParse with "name:line: ..." when it is not JSON or an object has a key twice.
nlohmann::json parse_json_text(std::string_view text, std::string_view source_name);

class JsonField {
 public:
  // Both must outlive the field.
  JsonField(const nlohmann::json& value, std::string_view source_name) : value_(&value), source_name_(source_name) {}

  [[nodiscard]] const nlohmann::json& json() const { return *value_; }
  // Throws kParse with file and path.
  [[noreturn]] void fail(std::string_view message) const;

  // Each throws unless the value has that form. Bounds are inclusive.
  void require_object(std::initializer_list<std::string_view> allowed_keys) const;
  [[nodiscard]] int array_size() const;
  [[nodiscard]] std::string text() const;  // not empty
  [[nodiscard]] double number(double low, double high) const;
  [[nodiscard]] int integer(int low, int high) const;
  // A real number or the string "-inf".
  [[nodiscard]] double log_value() const;

  [[nodiscard]] bool has(const char* key) const { return value_->contains(key); }
  [[nodiscard]] JsonField at(const std::string& key) const;  // throws when there is none
  [[nodiscard]] JsonField at(int index) const;

 private:
  [[noreturn]] void fail_expected(std::string_view expected) const;

  const nlohmann::json* value_;
  std::string_view source_name_;
  std::string path_;
};

}  // namespace treesample
