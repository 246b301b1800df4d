// The sum over evaluated configurations, A, whose densities are known up to their rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "math/compensated_sum.hpp"
#include "treesample/math/log_bounds.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

class AskedSum {
 public:
  // A log-density that is off by at most `error`.
  void add(double log_density, double error) {
    const LogBounds bounds = LogBounds::around(log_density, error);
    lower_.push_back(bounds.lower);
    upper_.push_back(bounds.upper);
    log_most_ = std::max(log_most_, bounds.upper);
  }

  [[nodiscard]] LogBounds bounds() const { return {bounds_of(lower_).lower, bounds_of(upper_).upper}; }
  // No evaluated configuration has a larger log-density.
  [[nodiscard]] double log_most() const { return log_most_; }

 private:
  // log_sum_exp rounds each difference d to the largest term, an error of u |d| exp(d) <= u / e of the sum, which is at
  // least 1; each exp; each addition; the logarithm; and the last addition (u = kEpsilon / 2).
  static LogBounds bounds_of(const std::vector<double>& terms) {
    const double value = log_sum_exp(terms);
    const double error = kEpsilon * (2.0 * static_cast<double>(terms.size()) + 4.0 + std::abs(value));
    return value == kNegInf ? LogBounds{value, value} : LogBounds::around(value, error);
  }

  std::vector<double> lower_, upper_;
  double log_most_ = kNegInf;
};

}  // namespace treesample
