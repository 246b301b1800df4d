// A sum of numbers that is accurate even if large numbers cancel (Neumaier's form of Kahan's sum).
#pragma once

#include <cmath>

#include "treesample/math/log_domain.hpp"

namespace treesample {

inline constexpr double kEpsilon = 0x1.0p-52;

class CompensatedSum {
 public:
  // The number must be finite or -inf; with -inf the sum is -inf.
  void add(double number) {
    if (number == kNegInf) {
      is_minus_infinite_ = true;
      return;
    }
    const double sum = sum_ + number;
    lost_ += std::abs(sum_) >= std::abs(number) ? (sum_ - sum) + number : (number - sum) + sum_;
    sum_ = sum;
    magnitude_ += std::abs(number);
    ++count_;
  }

  // Adds the numbers of another sum.
  void add(const CompensatedSum& other) {
    const double magnitude = magnitude_ + other.magnitude_, count = count_ + other.count_;
    add(other.sum_);
    lost_ += other.lost_;
    magnitude_ = magnitude;
    count_ = count + 1.0;  // one more addition
    is_minus_infinite_ = is_minus_infinite_ || other.is_minus_infinite_;
  }

  [[nodiscard]] double value() const { return is_minus_infinite_ ? kNegInf : sum_ + lost_; }
  // A bound of |value() - the sum of the numbers|: the rounding of the last addition and of `lost_`.
  [[nodiscard]] double rounding() const {
    return is_minus_infinite_ ? 0.0 : kEpsilon * std::abs(value()) + count_ * count_ * kEpsilon * kEpsilon * magnitude_;
  }
  // The same, if each number is the logarithm of a given number. Both are known only to one unit in the last place; for
  // a given number near 1, its own unit is the larger error.
  [[nodiscard]] double error() const {
    return is_minus_infinite_ ? 0.0 : rounding() + kEpsilon * (count_ + magnitude_);
  }

 private:
  double sum_ = 0.0, lost_ = 0.0, magnitude_ = 0.0;
  double count_ = 0.0;
  bool is_minus_infinite_ = false;
};

}  // namespace treesample
