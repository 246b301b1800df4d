#include "train/number_set.hpp"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <string_view>

#include "treesample/error.hpp"

namespace treesample {
namespace {

[[noreturn]] void fail(std::string_view word) {
  throw Error(ErrorCode::kParse, fmt::format("set of numbers: '{}' is no range such as 3 or 3-7", word.substr(0, 40)));
}

std::uint64_t parse_number(std::string_view digits, std::string_view word) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number >> 63U != 0) fail(word);
  return number;
}

}  // namespace

bool NumberSet::contains(std::uint64_t number) const {
  const auto after = ranges_.upper_bound(number);
  return after != ranges_.begin() && std::prev(after)->second >= number;
}

bool NumberSet::insert(std::uint64_t number) {
  if (contains(number)) return false;
  auto after = ranges_.upper_bound(number);
  std::uint64_t last = number;
  if (after != ranges_.end() && after->first == number + 1) {
    last = after->second;
    after = ranges_.erase(after);
  }
  if (after != ranges_.begin() && std::prev(after)->second + 1 == number) {
    std::prev(after)->second = last;
  } else {
    ranges_.emplace(number, last);
  }
  return true;
}

std::string NumberSet::text() const {
  std::string text;
  for (const auto& [first, last] : ranges_) {
    if (!text.empty()) text += ' ';
    text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  }
  return text;
}

NumberSet NumberSet::parse(const std::string& text) {
  NumberSet set;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(word.size() < rest.size() ? word.size() + 1 : rest.size());
    const std::size_t dash = word.find('-');
    const std::uint64_t first = parse_number(word.substr(0, dash), word);
    const std::uint64_t last = dash == std::string_view::npos ? first : parse_number(word.substr(dash + 1), word);
    const bool is_after = set.ranges_.empty() || std::prev(set.ranges_.end())->second + 1 < first;
    if (last < first || !is_after) fail(word);
    set.ranges_.emplace(first, last);
  }
  return set;
}

}  // namespace treesample
