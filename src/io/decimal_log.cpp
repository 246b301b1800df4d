#include "decimal_log.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <system_error>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// log(mantissa) + exponent log 10, for a well-formed decimal number that is not a normal double.
std::optional<double> log_beyond_double(std::string_view token) {
  constexpr std::uint64_t kFullMantissa = 100'000'000'000'000'000;  // 18 digits, more than a double holds
  std::uint64_t mantissa = 0;
  std::int64_t exponent = 0;
  bool after_point = false;
  std::size_t i = 0;
  for (; i < token.size() && token[i] != 'e' && token[i] != 'E'; ++i) {
    if (token[i] == '.') {
      after_point = true;
    } else if (mantissa < kFullMantissa) {
      mantissa = 10 * mantissa + static_cast<std::uint64_t>(token[i] - '0');
      exponent -= after_point ? 1 : 0;
    } else {
      exponent += after_point ? 0 : 1;
    }
  }
  if (mantissa == 0) return kNegInf;
  if (i < token.size()) {
    std::string_view digits = token.substr(i + 1);
    if (digits.front() == '+') digits.remove_prefix(1);
    std::int64_t written = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), written);
    if (result.ec != std::errc{} || std::abs(static_cast<double>(written)) > kMaxDecimalLog) return {};
    exponent += written;
  }
  // Computed in long doubles, so that the logarithm is accurate to one unit in the last place; certified numbers rely
  // on it.
  return static_cast<double>(std::log(static_cast<long double>(mantissa)) +
                             static_cast<long double>(exponent) * std::numbers::ln10_v<long double>);
}

// 0.DIGITS times 10^exponent, where the first and the last digit are not 0; no digits: 0.
struct Decimal {
  std::string digits;
  std::int64_t exponent = 0;
};

std::optional<Decimal> decimal_of(std::string_view token) {
  if (!log_of_decimal(token)) return {};
  Decimal number;
  bool is_behind_point = false;
  std::size_t i = 0;
  for (; i < token.size() && token[i] != 'e' && token[i] != 'E'; ++i) {
    if (token[i] == '.') is_behind_point = true;
    if (!is_digit(token[i])) continue;  // or the sign of -0
    if (!number.digits.empty() || token[i] != '0') {
      number.digits += token[i];
      number.exponent += is_behind_point ? 0 : 1;
    } else {
      number.exponent -= is_behind_point ? 1 : 0;
    }
  }
  number.digits.erase(number.digits.find_last_not_of('0') + 1);
  if (number.digits.empty()) return Decimal();
  if (i < token.size()) {
    i += token[i + 1] == '+' ? 2 : 1;
    std::int64_t written = 0;
    std::from_chars(token.data() + i, token.data() + token.size(), written);
    number.exponent += written;
  }
  return number;
}

// In long doubles, so that it is right to one unit in the last place of a double. Exponents are subtracted first.
double log_of_quotient(const Decimal& above, const Decimal& below) {
  if (above.digits.empty()) return kNegInf;
  const auto leading = [](const Decimal& number) {
    constexpr std::size_t kDigits = 21;
    long double mantissa = 0.0L;
    for (std::size_t i = std::min(kDigits, number.digits.size()); i-- > 0;) {
      mantissa = (mantissa + static_cast<long double>(number.digits[i] - '0')) / 10.0L;
    }
    return mantissa;
  };
  return static_cast<double>(std::log(leading(above) / leading(below)) +
                             static_cast<long double>(above.exponent - below.exponent) *
                                 std::numbers::ln10_v<long double>);
}

// a - b, where b is at most a and at least half of it.
Decimal difference(const Decimal& a, const Decimal& b) {
  const auto shift = static_cast<std::size_t>(a.exponent - b.exponent);  // 0 or 1
  std::string digits = a.digits, less = std::string(shift, '0') + b.digits;
  const std::size_t length = std::max(digits.size(), less.size());
  digits.resize(length, '0');
  less.resize(length, '0');
  int borrowed = 0;
  for (std::size_t i = length; i-- > 0;) {
    int digit = digits[i] - less[i] - borrowed;
    borrowed = digit < 0 ? 1 : 0;
    digits[i] = static_cast<char>('0' + digit + 10 * borrowed);
  }
  const std::size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
  return {digits.substr(zeros), a.exponent - static_cast<std::int64_t>(zeros)};
}

struct Fraction {
  Decimal above, below = {"1", 1};
};

std::optional<Fraction> fraction_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::size_t slash = text.find('/');
  const std::optional<Decimal> above = decimal_of(text.substr(0, slash));
  if (!above) return {};
  if (slash == std::string_view::npos) return Fraction{*above};
  const std::optional<Decimal> below = decimal_of(text.substr(slash + 1));
  if (!below || below->digits.empty()) return {};
  return Fraction{*above, *below};
}

}  // namespace

std::optional<double> log_of_fraction(std::string_view text) {
  const std::optional<Fraction> fraction = fraction_of(text);
  if (!fraction) return {};
  return log_of_quotient(fraction->above, fraction->below);
}

std::optional<double> log_of_rest(std::string_view text) {
  const std::optional<Fraction> fraction = fraction_of(text);
  if (!fraction) return {};
  const auto& [above, below] = *fraction;
  const double log_value = log_of_quotient(above, below);
  // Digits that 1 - a loses are those that a does not have: they are subtracted one by one.
  if (log_value < -std::numbers::ln2) return std::log1p(-std::exp(log_value));
  const bool is_above_one =
      above.exponent != below.exponent ? above.exponent > below.exponent : above.digits.compare(below.digits) > 0;
  if (is_above_one) return {};
  return log_of_quotient(difference(below, above), below);
}

std::optional<double> log_of_decimal(std::string_view token) {
  if (token == "0") return kNegInf;  // most entries of real files are 0
  if (token.starts_with('-')) {      // -0 is what some programs write for an underflow
    const std::optional<double> log_value = token.starts_with("--") ? std::nullopt : log_of_decimal(token.substr(1));
    return log_value == kNegInf ? log_value : std::nullopt;
  }
  if (token.empty() || !(is_digit(token.front()) || token.front() == '.')) return {};
  double value = 0.0;
  const char* const end = token.data() + token.size();
  const auto result = std::from_chars(token.data(), end, value);
  if (result.ptr != end || result.ec == std::errc::invalid_argument) return {};
  // Subnormal numbers take the slow path too, because they have lost digits.
  if (result.ec == std::errc{} && value >= std::numeric_limits<double>::min()) return std::log(value);
  return log_beyond_double(token);
}

void append_exp_decimal(std::string& text, double log_value) {
  char buffer[64];
  const auto append = [&](auto number) {
    text.append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), number).ptr);
  };
  if (log_value == kNegInf) {
    text += '0';
    return;
  }
  TS_ASSERT(std::abs(log_value) <= kMaxDecimalLog);
  const double value = std::exp(log_value);
  if (std::isnormal(value)) {
    append(value);
    return;
  }
  // Computed in long doubles, as in reading, so that the same logarithm is read back.
  const double exponent = std::floor(log_value / std::numbers::ln10);
  const long double log_mantissa = log_value - exponent * std::numbers::ln10_v<long double>;
  append(static_cast<double>(std::exp(log_mantissa)));  // the number is near [1, 10) and needs no exponent of its own
  text += 'e';
  append(static_cast<std::int64_t>(exponent));
}

}  // namespace treesample
