// Positive numbers as a product 2^(256 unit) * sum, the form in which a search adds and multiplies values: changing the
// unit is exact and takes no exponential. 256 bits are 177 nats, so that a node and its child mostly have the same
// unit, and nothing has to be converted.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "math/vector_kernels.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

// exp(R) for |R| up to a limit, here 1e-300 .. 1e300; 0 for R = -inf. An R beyond that is represented by a negative
// number from which it can be recovered: R itself, or -1 / R where R is positive.
inline double factor_of_reward(double reward, double limit = 690.0) {
  if (std::abs(reward) <= limit) return exp_one(reward);
  if (reward == kNegInf) return 0.0;
  return reward < 0.0 ? reward : -1.0 / reward;
}
inline double reward_of_factor(double factor) {
  if (factor >= 0.0) return std::log(factor);
  return factor < -1.0 ? factor : -1.0 / factor;
}

// factor * 2^(256 units); NaN where there are more than three units and where the product may have lost bits.
inline double scale_by_units(double factor, std::int64_t units) {
  if (units == 0) [[likely]]
    return factor;
  if (units > 3 || units < -3) return NAN;
  const double product = factor * std::bit_cast<double>(static_cast<std::uint64_t>(1023 + 256 * units) << 52);
  return product > 1e-200 ? product : NAN;
}

// A weight below this is negligible in the sum of its node and is represented only by its logarithm. The quotient of
// two larger weights is within the range of a double.
inline constexpr double kLeastWeight = 1e-200;

// Must a node's unit change? The bounds leave room for products with a factor.
inline bool is_out_of_range(double sum) { return !(sum > 1e-100 && sum < 1e100); }

// Throws kNumeric for a value that no unit can hold.
void check_log_size(double log_value);

struct ScaledValue {
  std::int64_t unit = 0;
  double sum = 1.0;

  static constexpr double kUnitHigh = 256.0 * kLn2High, kUnitLow = 256.0 * kLn2Low;  // log(2^256)

  static constexpr double kMostLog = 3e11;  // units have 32 bits

  // The unit in which exp(log_value) is between 2^-128 and 2^128; the least one for values below -kMostLog. Throws
  // kNumeric above kMostLog.
  static std::int32_t unit_of_log(double log_value);
  // log(exp(log_value) / 2^(256 unit))
  static double unscaled_log(double log_value, std::int64_t unit) {
    const auto units = static_cast<double>(unit);
    return (log_value - units * kUnitHigh) - units * kUnitLow;
  }
  // The inverse.
  static double scaled_log(double log, std::int64_t unit) {
    const auto units = static_cast<double>(unit);
    return units * kUnitHigh + (log + units * kUnitLow);
  }
  static ScaledValue of_log(double log_value) {
    const std::int64_t unit = unit_of_log(log_value);
    return {unit, std::exp(unscaled_log(log_value, unit))};
  }
  [[nodiscard]] double log() const { return scaled_log(std::log(sum), unit); }

  // Exact for sums within their range, however many factors there are.
  void operator*=(const ScaledValue& other) {
    unit += other.unit;
    sum *= other.sum;
    for (; sum < 1e-100 && sum > 0.0; --unit) sum *= 0x1.0p256;
    for (; sum > 1e100 && sum < HUGE_VAL; ++unit) sum *= 0x1.0p-256;
  }
  // factor * 2^(256 unit) * sum; NaN where one of them is out of range, and for a negative factor.
  [[nodiscard]] double times(double factor) const {
    const double product = scale_by_units(factor, unit);
    return product > 1e-200 && product < 1e200 && !is_out_of_range(sum) ? product * sum : NAN;
  }
};

}  // namespace treesample
