// A bound on the error of tables in the linear domain: for a true entry t >= 0 that is stored as s,
//
//   |s - t| <= (exp(relative) - 1) t + absolute.
//
// Nothing is ever subtracted, so the relative errors of inputs only add up. With u = 2^-53 and eps = 2u:
//
// A factor exp(f - largest): f, and the number of which it is the logarithm, are known to one unit in the last place,
// which is eps (1 + |f|) in f; the difference is off by u |f - largest| and the exponential by less than 8 u.
//
// A product of T tables, summed over K states: T multiplications and K - 1 additions of numbers >= 0, each off by u.
// Absolute errors: with M_i the largest entry of table i plus its absolute error, that of a product is
// sum_i absolute_i prod_{j != i} M_j, and that of the sum K times as much. Where not all entries of table i were
// computed, since what they are multiplied by was stored as 0, M_i is what they are at most: the number of states
// times the product of the M_j that table i was made from.
//
// Scaling by powers of two is exact. Entries below kTiny are set to 0, an absolute error of kTiny. A message with an
// input that has an absolute error gets 2 kTiny more: with hundreds of inputs, what that error becomes may underflow,
// and a message is known to be 0 only where its absolute error is 0. Products that underflow on the way are off by
// 2^-1074 times the factors still to come: the product of those M_i that are above 1, which is kept below kMostProduct.
// In a sum that is not below kTiny this is a relative error of less than T K 2^-140.
//
// In the end Z is a product of such numbers s, and log Z is off by the sum of relative + 2.02 absolute / s.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "math/compensated_sum.hpp"

namespace treesample {

struct LinearError {
  double relative = 0.0, absolute = 0.0;

  static constexpr double kTiny = 0x1.0p-800;
  static constexpr double kMostProduct = 0x1.0p128;
  static constexpr double kNoUnderflow = 0x1.0p-1000;  // a product of entries that is not below this is a normal number
  static constexpr double kSlack = 1.01;               // for terms of second order

  // `least` is the least f - largest of the entries that are kept.
  static LinearError of_factor(double largest, double least) {
    return {kEpsilon * (5.0 + std::abs(largest) + 1.5 * std::abs(least)), 0.0};
  }

  // The error of the logarithm of a table that is one number.
  [[nodiscard]] double of_log(double number) const {
    const double share = absolute / number;
    // While both are this small, terms of second order are far below one per cent.
    if (!(share < 1e-3) || !(relative < 1e-3)) return std::numeric_limits<double>::infinity();
    return kSlack * (relative + 2.02 * share);
  }
};

}  // namespace treesample
