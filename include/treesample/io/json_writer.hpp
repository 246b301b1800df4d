// Writes JSON piece by piece, for output that grows with a model: building a value in memory first would take longer
// than computing the answer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "treesample/io/json_text.hpp"

namespace treesample {

// The text of one value, in the layout of json_text(), except for the parts that the caller puts on one line; they make
// a large model's answer a quarter smaller. The caller must end all objects and arrays that it begins, and name each
// field of an object. Names are not checked for repetitions.
class JsonWriter {
 public:
  enum class Layout { kLines, kOneLine };  // kOneLine: this value and everything in it

  explicit JsonWriter(int indent = -1) : indent_(indent) {}

  // Reserves room for a text of this size, which saves copies.
  void reserve(std::size_t bytes) { text_.reserve(bytes); }

  void begin_object(Layout layout = Layout::kLines) { begin('{', layout); }
  void end_object() { end('}'); }
  void begin_array(Layout layout = Layout::kLines) { begin('[', layout); }
  void end_array() { end(']'); }
  // The name of the field whose value comes next.
  void name(std::string_view text);

  void text(std::string_view text);
  // Writes the shortest digits that are read back as the same number; null if it is not finite.
  void number(double value);
  void whole_number(std::int64_t value);
  // Both write a list on one line.
  void numbers(std::span<const int> values);
  void numbers(std::span<const double> values);
  // Writes a value that was built in memory; meant for small values.
  template <class Json>
  void value(const Json& value) {
    indented(json_text(value, line_depth_ > 0 ? -1 : indent_));
  }
  template <class Json>
  void field(std::string_view field_name, const Json& field_value) {
    name(field_name);
    value(field_value);
  }

  [[nodiscard]] std::string&& take() { return std::move(text_); }

 private:
  void begin(char bracket, Layout layout);
  void end(char bracket);
  void begin_value();
  void new_line();
  void indented(std::string_view lines);
  void quoted(std::string_view text);

  int indent_;
  std::size_t depth_ = 0, line_depth_ = 0;  // line_depth_: the depth at which one line began, 0 if none did
  bool is_first_ = true;                    // true while the object or array is empty
  bool is_named_ = false;                   // true if a name waits for its value
  std::string text_;
};

}  // namespace treesample
