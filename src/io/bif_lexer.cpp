#include "bif_lexer.hpp"

#include <fmt/format.h>

namespace treesample {
namespace {

constexpr std::string_view kBifBlanks = " \t\r\n\f\v,";
constexpr std::string_view kBifMarks = "{}()[];|";

bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

}  // namespace

bool BifLexer::at_comment() const {
  const std::string_view start = source_.text.substr(position_, 2);
  return start == "//" || start == "/*";
}

void BifLexer::skip_blanks() {
  const std::string_view text = source_.text;
  while (position_ < text.size()) {
    if (is_one_of(text[position_], kBifBlanks)) {
      ++position_;
    } else if (at_comment()) {
      const bool to_line_end = text[position_ + 1] == '/';
      const std::size_t end = to_line_end ? text.find('\n', position_) : text.find("*/", position_ + 2);
      if (end == std::string_view::npos && !to_line_end) {
        throw_parse_error(source_, position_, "the comment is not closed, expected '*/'");
      }
      position_ = end == std::string_view::npos ? text.size() : end + (to_line_end ? 1 : 2);
    } else {
      return;
    }
  }
}

std::string_view BifLexer::quoted_text() {
  const std::size_t begin = position_ + 1;
  const std::size_t end = source_.text.find('"', begin);
  if (end == std::string_view::npos) throw_parse_error(source_, position_, "the quote is not closed, expected '\"'");
  position_ = end + 1;
  return source_.text.substr(begin, end - begin);
}

BifToken BifLexer::next() {
  skip_blanks();
  const std::string_view text = source_.text;
  const std::size_t begin = position_;
  if (begin == text.size()) return {BifToken::Kind::kEnd, text.substr(begin), begin};
  if (text[begin] == '"') return {BifToken::Kind::kWord, quoted_text(), begin};
  if (is_one_of(text[begin], kBifMarks)) {
    ++position_;
    return {BifToken::Kind::kMark, text.substr(begin, 1), begin};
  }
  const auto in_word = [&] {
    const char c = text[position_];
    return c != '"' && !is_one_of(c, kBifBlanks) && !is_one_of(c, kBifMarks) && !at_comment();
  };
  while (position_ < text.size() && in_word()) ++position_;
  return {BifToken::Kind::kWord, text.substr(begin, position_ - begin), begin};
}

void BifLexer::skip_property() {
  const std::size_t begin = position_;
  while (position_ < source_.text.size()) {
    const char c = source_.text[position_];
    if (c == '"') {
      quoted_text();
      continue;
    }
    ++position_;
    if (c == ';') return;
  }
  throw_parse_error(source_, begin, "the property is not closed, expected ';'");
}

void BifLexer::fail(const BifToken& token, std::string_view expected) const {
  fail_with(token, fmt::format("expected {}, found {}", expected, quoted(source_, token.text)));
}

void BifLexer::fail_with(const BifToken& token, std::string_view message) const {
  throw_parse_error(source_, token.offset, message);
}

}  // namespace treesample
