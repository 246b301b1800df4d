// Certified bounds of a logarithm: lower <= the number <= upper, including rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace treesample {

struct LogBounds {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();

  // A number that is known up to an error; -inf is known exactly.
  static LogBounds around(double value, double error) { return LogBounds{value, value}.widened(error); }
  // Bounds of a number that is off by at most `error`. They are rounded outward, because the error may be less than
  // half a unit in the last place of the number.
  [[nodiscard]] LogBounds widened(double error) const {
    const auto moved = [&](double bound, double sign) {
      if (error == 0.0 || !std::isfinite(bound)) return bound;
      return std::nextafter(bound + sign * error, sign * std::numeric_limits<double>::infinity());
    };
    return {moved(lower, -1.0), moved(upper, 1.0)};
  }
  // The intersection of two statements about one number. Throws Error (kNumeric) if they contradict each other: one of
  // them is then wrong, and nothing tells which.
  [[nodiscard]] LogBounds operator&(const LogBounds& other) const {
    const LogBounds both{std::max(lower, other.lower), std::min(upper, other.upper)};
    if (!(both.lower <= both.upper)) throw_contradiction();
    return both;
  }
  LogBounds& operator&=(const LogBounds& other) { return *this = *this & other; }
  [[nodiscard]] static LogBounds at_least(double lower) { return {lower, std::numeric_limits<double>::infinity()}; }
  [[nodiscard]] static LogBounds at_most(double upper) { return {-std::numeric_limits<double>::infinity(), upper}; }
  [[nodiscard]] double width() const { return lower == upper ? 0.0 : upper - lower; }
  // What `exact` means: Z is known to one part in a million. Bounds that cross by more know nothing.
  static constexpr double kExact = 1e-6;
  [[nodiscard]] bool is_exact() const {
    const bool is_point = lower == upper && upper < std::numeric_limits<double>::infinity();  // -inf too
    return is_point || std::abs(upper - lower) <= kExact;
  }
  [[nodiscard]] double clamp(double value) const { return value > upper ? upper : value < lower ? lower : value; }

 private:
  [[noreturn]] static void throw_contradiction();
};

}  // namespace treesample
