#include "treesample/parse_number.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>

namespace treesample {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

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
    constexpr std::int64_t kFar = 1'000'000'000'000;  // larger than any number of digits
    exponent = std::clamp(exponent, -kFar, kFar);
  }
  // The digits without the point, and the number of digits after the point.
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

std::optional<double> parse_real(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end || value != value) return {};
  return value;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  constexpr double kMostBytes = 1e18;
  if (const std::optional<std::int64_t> bytes = parse_integer(text)) {
    if (*bytes < 0 || static_cast<double>(*bytes) > kMostBytes) return {};
    return static_cast<std::uint64_t>(*bytes);
  }
  constexpr std::string_view kUnits = "KMGTkmgt";
  if (text.ends_with('B') || text.ends_with('b')) {
    text.remove_suffix(1);
    const bool is_binary = text.ends_with('i');
    if (is_binary) text.remove_suffix(1);
    if (parse_integer(text)) return is_binary ? std::nullopt : parse_size(text);
  }
  const std::size_t power = text.empty() ? std::string_view::npos : kUnits.find(text.back());
  if (power == std::string_view::npos) return {};
  const std::optional<double> count = parse_real(text.substr(0, text.size() - 1));
  const double bytes = count.value_or(-1.0) * static_cast<double>(std::uint64_t{1} << (10 * (power % 4 + 1)));
  if (!(bytes >= 0.0 && bytes <= kMostBytes)) return {};
  return static_cast<std::uint64_t>(bytes);
}

std::optional<double> parse_seconds(std::string_view text) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  // A unit that ends like another one stands before it.
  constexpr Unit kUnits[] = {{"ms", 1e-3}, {"min", 60.0}, {"s", 1.0}, {"m", 60.0}, {"h", 3600.0}, {"d", 86400.0}};
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    const std::optional<double> count = parse_real(text.substr(0, text.size() - unit.name.size()));
    return count ? std::optional<double>(*count * unit.seconds) : std::nullopt;
  }
  return parse_real(text);
}

}  // namespace treesample
