// Numbers for people.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "treesample/text.hpp"

namespace treesample::cli {

// A count given by its logarithm: 1234 as it is, large ones as 3.4e56.
inline std::string count_text(double log_count) {
  if (log_count < 13.8) return fmt::format("{:.0f}", std::exp(log_count));
  const double log10_count = log_count / std::log(10.0);
  return fmt::format("{:.1f}e{:.0f}", std::pow(10.0, log10_count - std::floor(log10_count)), std::floor(log10_count));
}

inline std::string log_value_text(double value) {
  if (std::isinf(value) && value < 0.0) return "-inf";
  return fmt::format("{} (log10: {})", fixed(value), fixed(value / std::log(10.0)));
}

// Six digits after the point, never above (below) what is a lower (an upper) bound: half a unit of the text further out
// before it is rounded.
inline std::string decimal_bound(double value, double direction) {
  constexpr double kHalf = 0.50001e-6;
  if (!std::isfinite(value) || value == std::round(value)) return fixed(value);
  return fixed(std::nextafter(value + direction * kHalf, direction * HUGE_VAL));
}

// A tolerance with few digits, never below what it is.
inline std::string tolerance_text(double value, int num_digits) {
  double shown = value;
  std::string text = fmt::format("{:.{}g}", shown, num_digits);
  while (std::isfinite(shown) && value > 0.0 && std::stod(text) <= value) {
    shown *= 1.0 + 0.3 * std::pow(10.0, -num_digits);
    text = fmt::format("{:.{}g}", shown, num_digits);
  }
  return text;
}

inline std::string bytes_text(double bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes >= 1024.0 && unit < 4; ++unit) bytes /= 1024.0;
  return bytes < 1e5 ? fmt::format("{:.1f} {}", bytes, units[unit]) : fmt::format("{:.0e} {}", bytes, units[unit]);
}

}  // namespace treesample::cli
