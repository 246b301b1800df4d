#include "treesample/io/json_writer.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "treesample/error.hpp"

namespace treesample {

void JsonWriter::new_line() {
  if (indent_ < 0) return;
  text_ += '\n';
  text_.append(depth_ * static_cast<std::size_t>(indent_), ' ');
}

// Writes the comma and the line break before the next value, unless a name has just been written.
void JsonWriter::begin_value() {
  if (is_named_) {
    is_named_ = false;
    return;
  }
  if (depth_ == 0) return;
  if (!is_first_) text_ += ',';
  if (line_depth_ == 0) {
    new_line();
  } else if (!is_first_ && indent_ >= 0) {
    text_ += ' ';
  }
  is_first_ = false;
}

void JsonWriter::begin(char bracket, Layout layout) {
  begin_value();
  text_ += bracket;
  ++depth_;
  if (line_depth_ == 0 && layout == Layout::kOneLine) line_depth_ = depth_;
  is_first_ = true;
}

void JsonWriter::end(char bracket) {
  TS_ASSERT(depth_ > 0 && !is_named_);
  const bool is_in_line = line_depth_ > 0;
  if (line_depth_ == depth_) line_depth_ = 0;
  --depth_;
  if (!is_first_ && !is_in_line) new_line();
  text_ += bracket;
  is_first_ = false;
}

void JsonWriter::quoted(std::string_view text) {
  const bool is_plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; });
  if (!is_plain) {
    text_ += json_text(nlohmann::json(text));
    return;
  }
  text_ += '"';
  text_ += text;
  text_ += '"';
}

void JsonWriter::name(std::string_view text) {
  TS_ASSERT(!is_named_);
  begin_value();
  quoted(text);
  text_ += indent_ < 0 ? ":" : ": ";
  is_named_ = true;
}

void JsonWriter::text(std::string_view text) {
  begin_value();
  quoted(text);
}

void JsonWriter::number(double value) {
  begin_value();
  if (!std::isfinite(value)) {
    text_ += "null";
    return;
  }
  constexpr std::size_t kMostCharacters = 32;  // -2.2250738585072014e-308 has 24
  std::array<char, kMostCharacters> digits;
  const char* const end = fmt::format_to(digits.data(), FMT_COMPILE("{}"), value + 0.0);  // + 0.0 turns -0 into 0
  const std::string_view shown(digits.data(), static_cast<std::size_t>(end - digits.data()));
  text_ += shown;
  // A number that is not an integer type must not be read back as one.
  if (shown.find_first_of(".e") == std::string_view::npos) text_ += ".0";
}

void JsonWriter::whole_number(std::int64_t value) {
  begin_value();
  const fmt::format_int digits(value);
  text_.append(digits.data(), digits.size());
}

void JsonWriter::numbers(std::span<const int> values) {
  begin_array(Layout::kOneLine);
  for (const int value : values) whole_number(value);
  end_array();
}

void JsonWriter::numbers(std::span<const double> values) {
  begin_array(Layout::kOneLine);
  for (const double value : values) number(value);
  end_array();
}

// Strings contain no line breaks, because JSON escapes them: so every line break in `lines` is layout.
void JsonWriter::indented(std::string_view lines) {
  begin_value();
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    text_ += lines.substr(at, end - at);
    if (end < lines.size()) new_line();
    at = end + 1;
  }
}

}  // namespace treesample
