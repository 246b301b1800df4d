// The numbers of the tree search: wide numbers in units of 2^256, and the rules that keep a node's weights in the range
// of a double. 256 bits are 177 nats, so a node and its child mostly have the same unit, and nothing has to be
// converted. The mantissas, which are sums of weights, are not normalised as in wide_number.hpp: each backup would then
// pay for a test that only the limits below need.
#pragma once

#include "math/wide_number.hpp"

namespace treesample {

using TreeNumber = BasicWideNumber<256>;

// factor * 2^(256 (from - to)). Returns NaN if the units differ by more than three, and if bits may be lost.
inline double scale_by_units(double factor, std::int32_t from, std::int32_t to) {
  if (from == to) [[likely]]
    return factor;
  const std::int64_t units = std::int64_t{from} - to;
  if (units > 3 || units < -3) return NAN;
  const double product = factor * TreeNumber::power_of_two(static_cast<int>(256 * units));
  return product > 1e-200 ? product : NAN;
}

// A weight below this is negligible in the sum of its node and is represented only by its logarithm. The quotient of
// two larger weights is within the range of a double.
inline constexpr double kLeastWeight = 1e-200;

// Must a node's unit change? The bounds leave room for products with a factor.
inline bool is_out_of_range(double sum) { return !(sum > 1e-100 && sum < 1e100); }

// factor * value / 2^(256 unit). Returns NaN if one of them is out of range, and for a negative factor.
inline double weight_in_unit(double factor, const TreeNumber& value, std::int32_t unit) {
  const double scaled = scale_by_units(factor, value.exponent, unit);
  return scaled > 1e-200 && scaled < 1e200 && !is_out_of_range(value.mantissa) ? scaled * value.mantissa : NAN;
}

// The largest logarithm that can be represented: units have 32 bits.
inline constexpr double kMostTreeLog = 3e11;

// Throws kNumeric for a value that no unit can hold.
void check_log_size(double log_value);

// The unit in which exp(log_value) is between 2^-128 and 2^128; the smallest unit for values below -kMostTreeLog.
// Throws kNumeric above kMostTreeLog.
std::int32_t tree_unit_of(double log_value);

}  // namespace treesample
