// Non-negative numbers of any size with a bound of their error, for the sums and products of weighted counts.
//
//   m 2^e with 1 <= m < 2, or 0;      |log(computed number / true number)| <= error 2^-53
//
// Nothing is ever subtracted, so that errors stay relative: a product has the sum of the errors of its factors, a sum
// at most the largest error of its terms (log sum exp is monotone and shifts with its arguments), and each operation
// adds one rounding, |log(1 + d)| <= 1.01 2^-53 for |d| <= 2^-53. kInflation covers the hundredth and the rounding of
// `error` itself: it makes the error of a chain of a million operations less than a tenth larger.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "treesample/math/log_bounds.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

class CountNumber {
 public:
  // 0, without an error.
  CountNumber() = default;
  static CountNumber one() { return {1.0, 0, 0.0F}; }
  // exp(log_value), |log_value| <= kLargestLog, where the logarithm is known up to `log_error`; 0 for -inf.
  static CountNumber of_log(double log_value, double log_error);
  static constexpr double kLargestLog = 1e9;  // of all products that may occur: exponents have 32 bits

  [[nodiscard]] bool is_zero() const { return mantissa_ == 0.0; }
  // Exactly 1, so that multiplying by it may be left out.
  [[nodiscard]] bool is_one() const { return mantissa_ == 1.0 && exponent_ == 0 && error_ == 0.0F; }

  CountNumber& operator*=(const CountNumber& other) {
    mantissa_ *= other.mantissa_;
    exponent_ += other.exponent_;
    error_ = (error_ + other.error_ + 1.0F) * kInflation;
    normalise();
    return *this;
  }
  CountNumber& operator+=(const CountNumber& other) {
    if (other.is_zero()) return *this;
    if (is_zero()) return *this = other;
    const std::int64_t shift = std::int64_t{other.exponent_} - exponent_;  // exponents may have opposite signs
    constexpr std::int64_t kBeyond = 200;  // a term that is smaller by 2^-200 is within the rounding
    if (shift > kBeyond) {
      mantissa_ = other.mantissa_;
      exponent_ = other.exponent_;
    } else if (shift >= -kBeyond) {
      mantissa_ += std::ldexp(other.mantissa_, static_cast<int>(shift));
    }
    error_ = ((error_ > other.error_ ? error_ : other.error_) + 1.0F) * kInflation;
    normalise();
    return *this;
  }
  friend CountNumber operator*(CountNumber a, const CountNumber& b) { return a *= b; }
  friend CountNumber operator+(CountNumber a, const CountNumber& b) { return a += b; }

  // Of the computed numbers, right to one rounding: logarithms of large numbers would lose the digits that their
  // difference needs. `whole` is not 0; quotients below the range of doubles are 0.
  friend double quotient(const CountNumber& part, const CountNumber& whole) {
    constexpr std::int64_t kBeyond = 2000;
    const std::int64_t shift = std::int64_t{part.exponent_} - whole.exponent_;
    if (part.is_zero() || shift < -kBeyond) return 0.0;
    return std::ldexp(part.mantissa_ / whole.mantissa_, static_cast<int>(shift < kBeyond ? shift : kBeyond));
  }

  // As computed, whatever the errors.
  [[nodiscard]] bool equals(const CountNumber& other) const {
    return mantissa_ == other.mantissa_ && exponent_ == other.exponent_;
  }

  // An upper bound of both, and a lower bound of both. Computed numbers are compared; the error is the larger one.
  friend CountNumber larger(const CountNumber& a, const CountNumber& b) {
    return a.is_below(b) ? b.widened(a) : a.widened(b);
  }
  friend CountNumber smaller(const CountNumber& a, const CountNumber& b) {
    return a.is_below(b) ? a.widened(b) : b.widened(a);
  }

  // The parts of a number, and a number made from parts; is_legal() tells whether they are valid.
  struct Parts {
    double mantissa = 0.0;
    std::int32_t exponent = 0;
    float error = 0.0F;

    [[nodiscard]] bool is_legal() const {
      if (mantissa == 0.0) return exponent == 0 && error == 0.0F;
      return mantissa >= 1.0 && mantissa < 2.0 && std::abs(exponent) <= 1'500'000'000 && error >= 0.0F && error < 1e30F;
    }
  };
  [[nodiscard]] Parts parts() const { return {mantissa_, exponent_, error_}; }
  static CountNumber of_parts(const Parts& parts) { return {parts.mantissa, parts.exponent, parts.error}; }

  // The computed logarithm, and certified bounds of the true one.
  [[nodiscard]] double log() const;
  [[nodiscard]] LogBounds log_bounds() const;
  [[nodiscard]] double error() const { return static_cast<double>(error_); }

 private:
  static constexpr float kInflation = 1.0F + 0x1.0p-22F;

  CountNumber(double mantissa, int exponent, float error) : mantissa_(mantissa), exponent_(exponent), error_(error) {}

  [[nodiscard]] bool is_below(const CountNumber& other) const {
    if (is_zero() || other.is_zero()) return !other.is_zero();
    return exponent_ != other.exponent_ ? exponent_ < other.exponent_ : mantissa_ < other.mantissa_;
  }
  [[nodiscard]] CountNumber widened(const CountNumber& other) const {
    CountNumber result = *this;
    if (!is_zero() && other.error_ > error_) result.error_ = other.error_;
    return result;
  }
  void normalise() {
    if (mantissa_ >= 2.0) {  // sums and products of mantissas below 2 are below 4; sums may be larger after a shift
      int exponent = 0;
      mantissa_ = 2.0 * std::frexp(mantissa_, &exponent);
      exponent_ += exponent - 1;
    } else if (mantissa_ == 0.0) {
      *this = CountNumber();
    }
  }

  double mantissa_ = 0.0;
  std::int32_t exponent_ = 0;
  float error_ = 0.0F;
};

inline CountNumber CountNumber::of_log(double log_value, double log_error) {
  if (log_value == kNegInf) return {};
  if (log_value == 0.0 && log_error == 0.0) return one();
  // log_value = k ln 2 + r with |r| <= 0.35: ln 2 in two parts, so that k ln 2 is off by 2^-53 (1 + |log_value|).
  constexpr double kHigh = 0x1.62e42fefap-1, kLow = 0x1.cf79abc9e3b3ap-40;
  const double k = std::nearbyint(log_value / 0x1.62e42fefa39efp-1);
  const double r = std::fma(-k, kLow, std::fma(-k, kHigh, log_value));
  int exponent = 0;
  const double mantissa = 2.0 * std::frexp(std::exp(r), &exponent);
  const double error = log_error / 0x1.0p-53 + 4.0 * (2.0 + std::abs(log_value));
  return {mantissa, static_cast<int>(k) + exponent - 1, static_cast<float>(error) * kInflation};
}

inline double CountNumber::log() const {
  if (is_zero()) return kNegInf;
  return std::log(mantissa_) + static_cast<double>(exponent_) * 0x1.62e42fefa39efp-1;
}

inline LogBounds CountNumber::log_bounds() const {
  const double value = log();
  if (is_zero()) return {value, value};
  // ln 2, the product, the logarithm and the sum: four roundings of numbers of at most |exponent| and 1.
  const double of_log = 0x1.0p-52 * (4.0 + 4.0 * std::abs(static_cast<double>(exponent_)));
  return LogBounds::around(value, 1.01 * (static_cast<double>(error_) * 0x1.0p-53 + of_log));
}

}  // namespace treesample
