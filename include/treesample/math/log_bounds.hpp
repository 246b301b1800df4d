// Certified bounds of a logarithm: lower <= the number <= upper, rounding included.
#pragma once

#include <limits>

namespace treesample {

struct LogBounds {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();

  // A number that is known up to an error; -inf is known exactly.
  static LogBounds around(double value, double error) {
    if (value == -std::numeric_limits<double>::infinity()) return {value, value};
    return {value - error, value + error};
  }
  // What `exact` means: Z is known to one part in a million.
  static constexpr double kExact = 1e-6;
  [[nodiscard]] bool is_exact() const {
    const bool is_point = lower == upper && upper < std::numeric_limits<double>::infinity();  // -inf too
    return is_point || upper - lower <= kExact;
  }
  [[nodiscard]] double clamp(double value) const { return value > upper ? upper : value < lower ? lower : value; }
};

}  // namespace treesample
