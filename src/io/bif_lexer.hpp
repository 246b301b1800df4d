// The tokens of a BIF text.
#pragma once

#include <cstddef>
#include <string_view>

#include "source_text.hpp"

namespace treesample {

struct BifToken {
  enum class Kind { kWord, kMark, kEnd };
  Kind kind = Kind::kEnd;
  std::string_view text = {};  // without quotes
  std::size_t offset = 0;      // where it begins, for messages

  // One of { } ( ) [ ] ; | outside quotes.
  [[nodiscard]] bool is_mark(char mark) const { return kind == Kind::kMark && text.front() == mark; }
  [[nodiscard]] bool is_word(std::string_view word) const { return kind == Kind::kWord && text == word; }
};

class BifLexer {
 public:
  explicit BifLexer(SourceText source) : source_(source) {}

  // Skips white space, commas and comments. A word is anything between quotes, or any run of other
  // bytes up to white space, a comma, a mark, a quote or a comment. Throws kParse for an open quote
  // or comment.
  BifToken next();
  // Skips everything up to and including the next ';' that is not in quotes. A property is free text: the // of an
  // address in it does not begin a comment.
  void skip_property();

  [[noreturn]] void fail(const BifToken& token, std::string_view expected) const;
  [[noreturn]] void fail_with(const BifToken& token, std::string_view message) const;
  [[nodiscard]] const SourceText& source() const { return source_; }

 private:
  void skip_blanks();
  [[nodiscard]] bool at_comment() const;
  // The text between the quote at `position_` and the next one.
  std::string_view quoted_text();

  SourceText source_;
  std::size_t position_ = 0;
};

}  // namespace treesample
