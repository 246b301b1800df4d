#include "words.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>

namespace treesample::cli {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Optimal string alignment: Levenshtein's distance with exchanged neighbours as one step.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> distance(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        distance[i][j] = i + j;
        continue;
      }
      const std::size_t change = distance[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      distance[i][j] = std::min({change, distance[i - 1][j] + 1, distance[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        distance[i][j] = std::min(distance[i][j], distance[i - 2][j - 2] + 1);
      }
    }
  }
  return distance[a.size()][b.size()];
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  std::int64_t exponent = 0;
  if (e < text.size()) {
    std::string_view written = text.substr(e + 1);
    if (written.starts_with('+') && written.size() > 1 && is_digit(written[1])) written.remove_prefix(1);
    const char* const end = written.data() + written.size();
    const auto [rest, error] = std::from_chars(written.data(), end, exponent);
    if (error != std::errc{} || rest != end) return {};
    constexpr std::int64_t kFar = 1'000'000'000'000;  // beyond any number of digits
    exponent = std::clamp(exponent, -kFar, kFar);
  }
  // The digits without the point, and how many of them are behind it.
  std::string digits;
  std::optional<std::size_t> point;
  for (const char c : text.substr(0, e)) {
    if (c == '.' && !point) {
      point = digits.size();
    } else if (is_digit(c)) {
      digits += c;
    } else {
      return {};
    }
  }
  if (digits.empty()) return {};
  exponent -= static_cast<std::int64_t>(point ? digits.size() - *point : 0);
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  for (; !digits.empty() && digits.back() == '0'; digits.pop_back()) ++exponent;
  if (digits.empty()) return 0;
  constexpr std::size_t kMostDigits = 19;
  if (exponent < 0 || digits.size() > kMostDigits || exponent > static_cast<std::int64_t>(kMostDigits)) return {};
  digits.append(static_cast<std::size_t>(exponent), '0');
  if (is_negative) digits.insert(digits.begin(), '-');
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{}) return {};
  return value;
}

std::string nearest_word(std::string_view typed, const std::vector<std::string>& words) {
  constexpr std::size_t kLongest = 64;  // nobody mistypes more
  if (typed.size() > kLongest) return {};
  std::string nearest;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const std::string& word : words) {
    const std::size_t distance = edit_distance(typed, word);
    const std::size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
    if (distance >= least || distance > std::max<std::size_t>(1, letters / 3)) continue;
    least = distance;
    nearest = word;
  }
  return nearest;
}

}  // namespace treesample::cli
