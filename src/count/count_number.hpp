// Wide numbers with a bound of their error, for the sums and products of weighted counts:
//
//   |log(computed number / true number)| <= error 2^-53
//
// Nothing is ever subtracted, so errors stay relative. A product has the sum of the errors of its factors. A sum has at
// most the largest error of its terms, because log sum exp is monotone and shifts with its arguments. Each operation
// adds one rounding, |log(1 + d)| <= 1.01 2^-53 for |d| <= 2^-53 (1 + 2^-300). kInflation covers the factor 1.01 and
// the rounding of `error` itself: it makes the error of a chain of a million operations less than a tenth larger.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "math/wide_number.hpp"
#include "treesample/math/log_bounds.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

class CountNumber {
 public:
  // 0, without an error.
  CountNumber() = default;
  static CountNumber one() { return {{1.0, 0}, 0.0F}; }
  // exp(log_value), |log_value| <= kLargestLog, where the logarithm is known up to `log_error`; 0 for -inf.
  static CountNumber of_log(double log_value, double log_error);
  static constexpr double kLargestLog = 1e9;  // limit for all products that may occur: exponents have 32 bits

  [[nodiscard]] bool is_zero() const { return number_.is_zero(); }
  // True if it is exactly 1, so that multiplying by it may be left out.
  [[nodiscard]] bool is_one() const { return equals(one()) && error_ == 0.0F; }

  CountNumber& operator*=(const CountNumber& other) {
    number_ *= other.number_;
    error_ = is_zero() ? 0.0F : (error_ + other.error_ + 1.0F) * kInflation;
    return *this;
  }
  CountNumber& operator+=(const CountNumber& other) {
    if (other.is_zero()) return *this;
    if (is_zero()) return *this = other;
    number_ += other.number_;
    error_ = (std::max(error_, other.error_) + 1.0F) * kInflation;
    return *this;
  }
  friend CountNumber operator*(CountNumber a, const CountNumber& b) { return a *= b; }
  friend CountNumber operator+(CountNumber a, const CountNumber& b) { return a += b; }

  // The quotient of the computed numbers, right to one rounding: logarithms of large numbers would lose the digits that
  // their difference needs. `whole` is not 0; quotients below the range of doubles are 0.
  friend double quotient(const CountNumber& part, const CountNumber& whole) {
    const std::int64_t units = std::int64_t{part.number_.exponent} - whole.number_.exponent;
    const auto bits = WideNumber::kUnitBits * static_cast<int>(std::clamp<std::int64_t>(units, -3, 3));
    return std::ldexp(part.number_.mantissa / whole.number_.mantissa, bits);
  }

  // Compares the numbers as computed, whatever their errors.
  [[nodiscard]] bool equals(const CountNumber& other) const { return number_ == other.number_; }

  // larger() is an upper bound of both, smaller() a lower bound of both. Computed numbers are compared; the error is
  // the larger one.
  friend CountNumber larger(const CountNumber& a, const CountNumber& b) {
    return a.number_ < b.number_ ? b.widened(a) : a.widened(b);
  }
  friend CountNumber smaller(const CountNumber& a, const CountNumber& b) {
    return a.number_ < b.number_ ? a.widened(b) : b.widened(a);
  }

  // The parts of a number m 2^e with 1 <= m < 2, or 0, and a number made from parts; is_legal() tells whether they are
  // valid.
  struct Parts {
    double mantissa = 0.0;
    std::int32_t exponent = 0;
    float error = 0.0F;

    [[nodiscard]] bool is_legal() const {
      if (mantissa == 0.0) return exponent == 0 && error == 0.0F;
      return mantissa >= 1.0 && mantissa < 2.0 && std::abs(exponent) <= 1'500'000'000 && error >= 0.0F && error < 1e30F;
    }
  };
  [[nodiscard]] Parts parts() const;
  static CountNumber of_parts(const Parts& parts);

  // The computed logarithm, and certified bounds of the true one.
  [[nodiscard]] double log() const { return number_.log(); }
  [[nodiscard]] LogBounds log_bounds() const;
  [[nodiscard]] double error() const { return static_cast<double>(error_); }

 private:
  static constexpr float kInflation = 1.0F + 0x1.0p-22F;

  CountNumber(const WideNumber& number, float error) : number_(number), error_(error) {}

  [[nodiscard]] CountNumber widened(const CountNumber& other) const {
    CountNumber result = *this;
    if (!is_zero() && other.error_ > error_) result.error_ = other.error_;
    return result;
  }

  [[no_unique_address]] WideNumber number_;
  float error_ = 0.0F;
};

static_assert(sizeof(CountNumber) == 16);

inline CountNumber CountNumber::of_log(double log_value, double log_error) {
  if (log_value == kNegInf) return {};
  if (log_value == 0.0 && log_error == 0.0) return one();
  const double error = (log_error + 1.01 * WideNumber::of_log_error(log_value)) / 0x1.0p-53;
  return {WideNumber::of_log(log_value), static_cast<float>(error) * kInflation};
}

inline CountNumber::Parts CountNumber::parts() const {
  if (is_zero()) return {};
  int exponent = 0;
  const double mantissa = 2.0 * std::frexp(number_.mantissa, &exponent);
  return {mantissa, WideNumber::kUnitBits * number_.exponent + exponent - 1, error_};
}

inline CountNumber CountNumber::of_parts(const Parts& parts) {
  const int bits = parts.exponent % WideNumber::kUnitBits;
  return {WideNumber::normalised(std::ldexp(parts.mantissa, bits), parts.exponent / WideNumber::kUnitBits),
          parts.error};
}

inline LogBounds CountNumber::log_bounds() const {
  const double value = log();
  if (is_zero()) return {value, value};
  return LogBounds::around(value, 1.01 * (static_cast<double>(error_) * 0x1.0p-53 + WideNumber::log_error(value)));
}

}  // namespace treesample
