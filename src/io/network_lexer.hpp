// The tokens of NET (Hugin) and DSC texts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "source_text.hpp"

namespace treesample {

struct NetworkToken {
  enum class Kind { kWord, kString, kMark, kEnd };
  Kind kind = Kind::kEnd;
  std::string text = {};   // of a string: what stands between its quotes
  std::size_t offset = 0;  // where it begins, for messages

  // One of { } ( ) [ ] ; | = : and the comma.
  [[nodiscard]] bool is_mark(char mark) const { return kind == Kind::kMark && text.front() == mark; }
  [[nodiscard]] bool is_word(std::string_view word) const { return kind == Kind::kWord && text == word; }
  [[nodiscard]] bool is_name() const { return kind == Kind::kWord || kind == Kind::kString; }
};

class NetworkLexer {
 public:
  // A comment goes from `comment` to the end of its line.
  NetworkLexer(SourceText source, std::string_view comment) : source_(source), comment_(comment) {}

  // Throws kParse for a quote that is not closed.
  NetworkToken next();
  // Throws kParse unless the next token is this one.
  void expect(char mark);
  // Skips everything up to and including the next semicolon.
  void skip_value();

  [[noreturn]] void fail(const NetworkToken& token, std::string_view expected) const;
  [[nodiscard]] const SourceText& source() const { return source_; }

 private:
  void skip_blanks();
  NetworkToken string();

  SourceText source_;
  std::string_view comment_;
  std::size_t at_ = 0;
};

}  // namespace treesample
