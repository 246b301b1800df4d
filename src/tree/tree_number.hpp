// The numbers of the tree search: wide numbers in units of 2^256, and what keeps a node's weights in the range of a
// double. 256 bits are 177 nats, so that a node and its child mostly have the same unit, and nothing has to be
// converted. The mantissas, sums of weights, are not brought into the form of wide_number.hpp: that would cost each
// backup a test that it needs only for the limits below.
#pragma once

#include "math/wide_number.hpp"

namespace treesample {

using TreeNumber = BasicWideNumber<256>;

// factor * 2^(256 (from - to)); NaN where these units differ by more than three and where bits may be lost.
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

// factor * value / 2^(256 unit); NaN where one of them is out of range, and for a negative factor.
inline double weight_in_unit(double factor, const TreeNumber& value, std::int32_t unit) {
  const double scaled = scale_by_units(factor, value.exponent, unit);
  return scaled > 1e-200 && scaled < 1e200 && !is_out_of_range(value.mantissa) ? scaled * value.mantissa : NAN;
}

// The largest logarithm: units have 32 bits.
inline constexpr double kMostTreeLog = 3e11;

// Throws kNumeric for a value that no unit can hold.
void check_log_size(double log_value);

// The unit in which exp(log_value) is between 2^-128 and 2^128; the least one for values below -kMostTreeLog. Throws
// kNumeric above kMostTreeLog.
std::int32_t tree_unit_of(double log_value);

}  // namespace treesample
