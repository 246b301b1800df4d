// A bound on the errors of the tables of an elimination in the log domain, given that the entries of factors, and the
// numbers of which they are logarithms, are known to one unit in the last place, eps = 2^-52.
//
// Every table enters a bucket with its largest entry subtracted: numbers t <= 0, so that no partial sum of a bucket
// exceeds the sum itself in magnitude, and
//
//   |t as computed - t| <= constant + slope |t|         for every entry that is not -inf; -inf is always exact.
//
// A factor: its entries are off by eps (1 + |entry|), and t = entry - largest by eps |t|, so that
//   constant = eps (1 + |largest|), slope = 2 eps.
//
// A sum of n tables: the constants add up, the sum of slope_i |t_i| is at most the largest slope times |t|, and each
// addition between a table and the sum is off by eps |t|.
//
// log sum exp over K entries t_a with errors f(t_a) = constant + slope |t_a|: the result is off by at most log sum_a
// p_a exp f(t_a), p = softmax(t). With t_a = t_max - d_a, E exp(slope d) <= K^slope (log E exp(s d) is convex in s, 0
// at s = 0 and at most log K at s = 1) and |t_max| <= |result| + log K, this is at most
//   constant + slope |result| + 2 slope log K,
// and exponentials, their sum and the logarithm add eps (K + 16) and eps |result|.
//
// Subtracting the largest entry: slope |largest| becomes part of the constant, and the subtraction adds eps |t|.
//
// Where all entries are within a few nats, the slope is turned into a constant too: in a chain it would grow with every
// step.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "math/compensated_sum.hpp"

namespace treesample {

struct MessageError {
  double constant = 0.0, slope = 0.0;

  static MessageError of_factor(double largest) { return {kEpsilon * (1.0 + std::abs(largest)), 2.0 * kEpsilon}; }

  // Adds a table to the sum.
  void add(const MessageError& table) {
    constant += table.constant;
    slope = std::max(slope, table.slope);
    ++num_additions;
  }
  void sum_out(int num_states) {
    slope += num_additions * kEpsilon;
    constant += 2.0 * slope * std::log(num_states) + kEpsilon * (num_states + 16.0);
    slope += kEpsilon;
  }
  // `least` is the least entry that is not -inf, after the largest is subtracted.
  void take_off(double largest, double least) {
    constexpr double kFewNats = 64.0, kLargestSlope = 1e-3;
    constant += slope * std::abs(largest);
    // The derivation drops terms of second order, which are far below one per cent while slopes are small.
    if (slope > kLargestSlope) constant = std::numeric_limits<double>::infinity();
    slope += kEpsilon;
    if (least >= -kFewNats) {
      constant -= slope * least;
      slope = 0.0;
    }
  }
  // The error of a message that is one number, which is now 0.
  [[nodiscard]] double of_number() const { return 1.01 * constant; }

  // At most, between a table and the sum: the number of tables, or less where they are added up in pairs.
  int num_additions = 0;
};

}  // namespace treesample
