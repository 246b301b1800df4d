// How far the tables of an elimination may be off, given that the factors' entries, and the numbers that they are
// logarithms of, are known to one unit in their last place, eps = 2^-52.
//
// All tables enter a bucket with their largest entry taken off: numbers t <= 0, so that no partial sum of a bucket
// exceeds the sum itself, and
//
//   |t as computed - t| <= constant + slope |t|         for every entry that is not -inf; -inf is always right.
//
// A factor: its entries are off by eps (1 + |entry|), and t = entry - largest by eps |t|, so that
//   constant = eps (1 + |largest|), slope = 2 eps.
//
// A sum of n tables: the constants add up, the sum of slope_i |t_i| is at most the largest slope times |t|, and each
// addition is off by eps |t|.
//
// log sum exp over K entries t_a that are off by f(t_a) = constant + slope |t_a|: the result is off by at most
// log sum_a p_a exp f(t_a), p = softmax(t). With t_a = t_max - d_a, E exp(slope d) <= K^slope (log E exp(s d) is convex
// in s, 0 at s = 0 and at most log K at s = 1) and |t_max| <= |result| + log K, this is at most
//   constant + slope |result| + 2 slope log K,
// and exponentials, their sum and the logarithm add eps (K + 16) and eps |result|.
//
// Largest entry taken off: slope |largest| becomes constant, and the subtraction adds eps |t|.
//
// Where all entries are within a few nats the slope becomes constant too: in a chain it would grow with every step.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "math/compensated_sum.hpp"

namespace treesample {

struct MessageError {
  double constant = 0.0, slope = 0.0;

  static MessageError of_factor(double largest) { return {kEpsilon * (1.0 + std::abs(largest)), 2.0 * kEpsilon}; }

  // Of a sum of tables that are added one by one.
  void add(const MessageError& table) {
    constant += table.constant;
    slope = std::max(slope, table.slope);
    ++num_tables;
  }
  void sum_out(int num_states) {
    slope += num_tables * kEpsilon;
    constant += 2.0 * slope * std::log(num_states) + kEpsilon * (num_states + 16.0);
    slope += kEpsilon;
  }
  // `least` of those that are not -inf, after the largest is taken off.
  void take_off(double largest, double least) {
    constexpr double kFewNats = 64.0, kLargestSlope = 1e-3;
    constant += slope * std::abs(largest);
    // The derivation drops what is of second order, far below a hundredth while slopes are small.
    if (slope > kLargestSlope) constant = std::numeric_limits<double>::infinity();
    slope += kEpsilon;
    if (least >= -kFewNats) {
      constant -= slope * least;
      slope = 0.0;
    }
  }
  // Of a message that is one number, 0 now.
  [[nodiscard]] double of_number() const { return 1.01 * constant; }

  int num_tables = 0;  // that were added up
};

}  // namespace treesample
