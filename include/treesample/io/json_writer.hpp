// JSON written as it comes, for what grows with a model: a value in memory would take longer than the answer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "treesample/io/json_text.hpp"

namespace treesample {

// The text of one value, laid out as json_text() does it but for what is said to stay in one line: a large model's
// answer is then a quarter smaller. The caller sees to it that objects and arrays that are begun are ended, and that
// each field of an object has a name; names are not compared with each other.
class JsonWriter {
 public:
  enum class Layout { kLines, kOneLine };  // kOneLine: with everything in it

  explicit JsonWriter(int indent = -1) : indent_(indent) {}

  // Room for a text of this size, which saves copies.
  void reserve(std::size_t bytes) { text_.reserve(bytes); }

  void begin_object(Layout layout = Layout::kLines) { begin('{', layout); }
  void end_object() { end('}'); }
  void begin_array(Layout layout = Layout::kLines) { begin('[', layout); }
  void end_array() { end(']'); }
  // The name of the field whose value comes next.
  void name(std::string_view text);

  void text(std::string_view text);
  // The shortest digits that are read as the same number; null where it is not finite.
  void number(double value);
  void whole_number(std::int64_t value);
  // In one line.
  void numbers(std::span<const int> values);
  void numbers(std::span<const double> values);
  // Any value of the other kind of writing, where it is small.
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
  std::size_t depth_ = 0, line_depth_ = 0;  // line_depth_: where one line began; 0: nowhere
  bool is_first_ = true;                    // nothing is in the object or array yet
  bool is_named_ = false;                   // a name waits for its value
  std::string text_;
};

}  // namespace treesample
