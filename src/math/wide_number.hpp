// Numbers >= 0 of any size, as m 2^(kBits e): sums and products of values far beyond the range of a double, without an
// exponential or a logarithm on the way. Changing e is exact. The searches and the counter all use these numbers, but
// keep different things beside them: common exponents of several numbers, bounds, an error.
//
// The form is unique: 2^(-kBits/2) <= m < 2^(kBits/2), or m = 0 or inf with e = 0.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "math/vector_kernels.hpp"

namespace treesample {

template <int kBits>
struct BasicWideNumber {
  double mantissa = 0.0;
  std::int32_t exponent = 0;

  static constexpr double power_of_two(int k) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + k) << 52);
  }
  static constexpr int kUnitBits = kBits;
  static constexpr double kUnit = power_of_two(kBits);
  static constexpr double kLeast = power_of_two(-kBits / 2);  // mantissas: kLeast <= m < kMost
  static constexpr double kMost = power_of_two(kBits / 2);

  // The e for which exp(log_value) / 2^(kBits e) is nearest to 1. The logarithm must be finite.
  static double unit_of_log(double log_value) { return std::round(log_value * (0x1.71547652b82fep+0 / kBits)); }
  // log(exp(log_value) / 2^(kBits e)), and the inverse.
  static double log_in_unit(double log_value, std::int64_t exponent) {
    const double bits = static_cast<double>(exponent) * kBits;
    return (log_value - bits * kLn2High) - bits * kLn2Low;
  }
  static double log_from_unit(double log, std::int64_t exponent) {
    const double bits = static_cast<double>(exponent) * kBits;
    return bits * kLn2High + (log + bits * kLn2Low);
  }

  // The number m 2^(kBits e) for any m >= 0.
  static BasicWideNumber normalised(double mantissa, std::int32_t exponent);
  // exp(log_value), with a relative error of at most of_log_error(log_value).
  static BasicWideNumber of_log(double log_value);
  static double of_log_error(double log_value);
  // The logarithm; its error is at most log_error(log()).
  [[nodiscard]] double log() const;
  static double log_error(double log) { return 2.0 * std::numeric_limits<double>::epsilon() * (1.0 + std::abs(log)); }

  [[nodiscard]] bool is_zero() const { return mantissa == 0.0; }
  [[nodiscard]] bool is_infinite() const { return mantissa == std::numeric_limits<double>::infinity(); }

  // The number in units of 2^(kBits e), at most `most`. It is exact except in two cases: it is cut off at `most`, or it
  // is below the normal numbers (it is then off by 2^-1075, or by less than 2^(-3 kBits / 2) if it becomes 0).
  [[nodiscard]] double in_unit(std::int32_t e, double most = std::numeric_limits<double>::infinity()) const {
    if (exponent == e || is_zero() || is_infinite()) return mantissa;
    const std::int64_t units = std::int64_t{exponent} - e;
    if (units < 0) return units == -1 ? mantissa / kUnit : 0.0;
    return units == 1 ? std::min(mantissa * kUnit, most) : most;
  }

  // Each operation rounds once; a sum may be off by another 2^(-kBits / 2) of itself. A product of 0 and inf is not
  // allowed.
  BasicWideNumber& operator*=(const BasicWideNumber& other) {
    return set(mantissa * other.mantissa, exponent + other.exponent);
  }
  BasicWideNumber& operator*=(double factor) { return set(mantissa * factor, exponent); }
  BasicWideNumber& operator+=(const BasicWideNumber& other) {
    if (exponent == other.exponent) [[likely]]
      return set(mantissa + other.mantissa, exponent);
    const std::int32_t unit = *this < other ? other.exponent : exponent;
    return set(in_unit(unit) + other.in_unit(unit), unit);
  }
  friend BasicWideNumber operator*(BasicWideNumber a, const BasicWideNumber& b) { return a *= b; }
  friend BasicWideNumber operator*(BasicWideNumber a, double factor) { return a *= factor; }

  friend bool operator==(const BasicWideNumber&, const BasicWideNumber&) = default;
  friend bool operator<(const BasicWideNumber& a, const BasicWideNumber& b) {
    if (a.exponent == b.exponent || a.is_special() || b.is_special()) return a.mantissa < b.mantissa;
    return a.exponent < b.exponent;
  }

 private:
  [[nodiscard]] bool is_special() const { return is_zero() || is_infinite(); }
  BasicWideNumber& set(double new_mantissa, std::int32_t new_exponent) {
    mantissa = new_mantissa;
    exponent = new_exponent;
    if (!(mantissa >= kLeast && mantissa < kMost)) [[unlikely]]
      *this = normalised(mantissa, exponent);
    return *this;
  }
};

// 768 bits are 532 nats: values that meet in a sum nearly always have equal exponents.
using WideNumber = BasicWideNumber<768>;

}  // namespace treesample
