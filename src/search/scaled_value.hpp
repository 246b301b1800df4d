// Positive numbers of any size as a product 2^exponent * sum, the form in which a search adds and multiplies
// values: changing the scale is exact and takes no exponential.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "math/vector_kernels.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

// exp(R) for |R| up to a limit, here 1e-300 .. 1e300; 0 for R = -inf. An R beyond that is marked by a negative number
// from which it can be had back: R itself, or -1 / R where it is positive.
inline double factor_of_reward(double reward, double limit = 690.0) {
  if (std::abs(reward) <= limit) return exp_one(reward);
  if (reward == kNegInf) return 0.0;
  return reward < 0.0 ? reward : -1.0 / reward;
}
inline double reward_of_factor(double factor) {
  if (factor >= 0.0) return std::log(factor);
  return factor < -1.0 ? factor : -1.0 / factor;
}

// factor * 2^exponent for an integer exponent; NaN where this is below 1e-200 (it may have lost bits), where the
// exponent is beyond 1000 and for a factor that stands for no number. No branch is taken in the usual case.
inline double scale_by_power(double factor, double exponent) {
  // The sum's low bits are the exponent in the form that a double has it.
  const auto bits = std::bit_cast<std::uint64_t>(exponent + (kRound + 1023.0));
  if (!(std::abs(exponent) <= 1000.0)) [[unlikely]]
    return NAN;
  const double product = factor * std::bit_cast<double>(bits << 52);
  return product > 1e-200 ? product : NAN;
}

// Must a node's exponent move? The bounds leave room for products with a factor.
inline bool is_out_of_range(double sum) { return !(sum > 1e-100 && sum < 1e100); }

struct ScaledValue {
  double exponent = 0.0;  // an integer
  double sum = 1.0;

  static double exponent_of_log(double log_value) { return std::round(log_value * 0x1.71547652b82fep+0); }
  // log(exp(log_value) / 2^exponent)
  static double unscaled_log(double log_value, double exponent) {
    return (log_value - exponent * kLn2High) - exponent * kLn2Low;
  }
  static ScaledValue of_log(double log_value) {
    const double exponent = exponent_of_log(log_value);
    return {exponent, std::exp(unscaled_log(log_value, exponent))};
  }
  [[nodiscard]] double log() const { return exponent * kLn2High + (std::log(sum) + exponent * kLn2Low); }

  void operator*=(const ScaledValue& other) {
    exponent += other.exponent;
    sum *= other.sum;
  }
  // factor * 2^exponent * sum; NaN where one of them is out of range.
  [[nodiscard]] double times(double factor) const {
    const double product = scale_by_power(factor, exponent);
    return product < 1e200 && !is_out_of_range(sum) ? product * sum : NAN;
  }
};

}  // namespace treesample
