#include "cost_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace treesample {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v", kBlanksInLine = " \t\r\f\v";

template <typename Number>
bool is_whole(std::string_view token, Number& value) {
  const char* const end = token.data() + token.size();
  const auto result = std::from_chars(token.data(), end, value);
  return result.ec == std::errc{} && result.ptr == end;
}

}  // namespace

std::string_view CostTokens::next() {
  const std::string_view text = source_.text;
  at_ = std::min(text.find_first_not_of(kBlanks, at_), text.size());
  const std::size_t begin = at_;
  at_ = std::min(text.find_first_of(kBlanks, at_), text.size());
  return text.substr(begin, at_ - begin);
}

std::string_view CostTokens::next_in_line() {
  const std::string_view text = source_.text;
  at_ = std::min(text.find_first_not_of(kBlanksInLine, at_), text.size());
  if (at_ == text.size()) return text.substr(at_);
  if (text[at_] == '\n') return text.substr(at_++, 0);
  return next();
}

std::string_view CostTokens::next_item() {
  constexpr std::string_view kBetween = " \t\r\n\f\v,:", kEnds = " \t\r\n\f\v,:{}[]\"";
  const std::string_view text = source_.text;
  for (;;) {
    at_ = std::min(text.find_first_not_of(kBetween, at_), text.size());
    if (at_ == text.size() || text[at_] != '#' || (at_ > 0 && text[at_ - 1] != '\n')) break;
    skip_line();
  }
  if (at_ == text.size()) return text.substr(at_);
  const std::size_t begin = at_;
  if (text[begin] == '"') {
    at_ = text.find_first_of("\"\n", begin + 1);
    if (at_ == text.npos || text[at_] == '\n') fail(text.substr(begin, 1), "a closing quote in the same line");
    const std::string_view word = text.substr(begin + 1, at_++ - begin - 1);
    if (word.empty() || word.find_first_of("{}[]") != word.npos) fail(word, "a name without brackets");
    return word;
  }
  at_ = kEnds.find(text[begin]) != kEnds.npos ? begin + 1 : std::min(text.find_first_of(kEnds, begin), text.size());
  return text.substr(begin, at_ - begin);
}

void CostTokens::skip_line() { at_ = std::min(source_.text.find('\n', at_), source_.text.size()); }

std::int64_t CostTokens::next_integer(std::string_view what, std::int64_t low, std::int64_t high) {
  return integer(next(), what, low, high);
}

std::int64_t CostTokens::integer(std::string_view token, std::string_view what, std::int64_t low,
                                 std::int64_t high) const {
  std::int64_t value = 0;
  if (!is_whole(token, value) || value < low || value > high)
    fail(token, fmt::format("{} from {} to {}", what, low, high));
  return value;
}

double CostTokens::number(std::string_view token, std::string_view what) const {
  double value = 0.0;
  if (token.starts_with('+')) token.remove_prefix(1);
  if (!is_whole(token, value) || !std::isfinite(value)) fail(token, what);
  return value;
}

void CostTokens::fail(std::string_view token, std::string_view expected) const {
  const auto offset = static_cast<std::size_t>(token.data() - source_.text.data());
  throw_parse_error(source_, offset, fmt::format("expected {}, found {}", expected, quoted(source_, token)));
}

}  // namespace treesample
