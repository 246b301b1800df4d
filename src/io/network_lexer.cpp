#include "network_lexer.hpp"

#include <fmt/format.h>

namespace treesample {
namespace {

constexpr std::string_view kNetworkBlanks = " \t\r\n\f\v";
constexpr std::string_view kNetworkMarks = "{}()[];|=:,";

}  // namespace

void NetworkLexer::skip_blanks() {
  const std::string_view text = source_.text;
  for (;;) {
    at_ = text.find_first_not_of(kNetworkBlanks, at_);
    if (at_ == std::string_view::npos) {
      at_ = text.size();
      return;
    }
    if (!text.substr(at_).starts_with(comment_)) return;
    at_ = text.find('\n', at_);
    if (at_ == std::string_view::npos) at_ = text.size();
  }
}

// A backslash before a quote or a backslash takes its meaning away.
NetworkToken NetworkLexer::string() {
  const std::string_view text = source_.text;
  NetworkToken token{.kind = NetworkToken::Kind::kString, .offset = at_};
  for (++at_; at_ < text.size() && text[at_] != '"'; ++at_) {
    const bool is_escape =
        text[at_] == '\\' && at_ + 1 < text.size() && (text[at_ + 1] == '"' || text[at_ + 1] == '\\');
    if (is_escape) ++at_;
    token.text += text[at_];
  }
  if (at_ >= text.size()) throw_parse_error(source_, token.offset, "a quote is not closed");
  ++at_;
  return token;
}

NetworkToken NetworkLexer::next() {
  skip_blanks();
  const std::string_view text = source_.text;
  if (at_ >= text.size()) return {.offset = text.size()};
  if (text[at_] == '"') return string();
  const std::size_t begin = at_;
  if (kNetworkMarks.find(text[at_]) != std::string_view::npos) {
    ++at_;
    return {NetworkToken::Kind::kMark, std::string(1, text[begin]), begin};
  }
  while (at_ < text.size() && kNetworkBlanks.find(text[at_]) == std::string_view::npos &&
         kNetworkMarks.find(text[at_]) == std::string_view::npos && text[at_] != '"' &&
         !text.substr(at_).starts_with(comment_)) {
    ++at_;
  }
  return {NetworkToken::Kind::kWord, std::string(text.substr(begin, at_ - begin)), begin};
}

void NetworkLexer::expect(char mark) {
  const NetworkToken token = next();
  if (!token.is_mark(mark)) fail(token, fmt::format("'{}'", mark));
}

void NetworkLexer::skip_value() {
  NetworkToken token = next();
  while (!token.is_mark(';')) {
    if (token.kind == NetworkToken::Kind::kEnd) fail(token, "';'");
    token = next();
  }
}

void NetworkLexer::fail(const NetworkToken& token, std::string_view expected) const {
  const std::string found =
      token.kind == NetworkToken::Kind::kEnd ? "the end of the file" : quoted(source_, token.text);
  throw_parse_error(source_, token.offset, fmt::format("expected {}, found {}", expected, found));
}

}  // namespace treesample
