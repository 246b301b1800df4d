// A bucket with few entries and at most one variable in its separator, in the linear domain. Chains, trees and stars
// have no others, and there can be a hundred thousand of them, or one with a hundred thousand tables: nothing is set up
// for a loop that is over at once, and products are scaled on the way, so that they cannot underflow.
//
//   b(x_v, x_u) = prod_i t_i(x_v, x_u),    as 2^exponent times the entries
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "exact/linear_table.hpp"

namespace treesample {

class SmallBucket {
 public:
  static bool fits(const FactorGraph& graph, int v, std::span<const int> separator);

  // The tables are over v, or over v and u.
  SmallBucket(const FactorGraph& graph, int v, std::span<const int> separator,
              std::span<const LinearTable* const> tables);

  // Sums over v: values, extremes, error and exponent of the message.
  void sum(LinearTable& message) const;
  // b becomes p(x_v, x_u), where p(x_u) is given; returns its sum for each state of v.
  std::vector<double> distribute(std::span<const double> of_separator);
  // Sums of p over what a child's separator does not have: that is v, or v and u.
  TableMemory for_child(std::span<const int> separator, std::span<const double> marginal) const;

 private:
  static constexpr std::size_t kMostEntries = 256;

  void multiply(const LinearTable& table);
  void scale();

  std::size_t num_states_, num_below_;  // of v and u
  std::array<double, kMostEntries> values_;
  double largest_ = 1.0;
  LinearError error_;
  int num_tables_ = 0, exponent_ = 0;
};

}  // namespace treesample
