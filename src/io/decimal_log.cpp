#include "decimal_log.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
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

}  // namespace

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
