// Evaluated configurations: A, the sum of their densities, each known up to its rounding, and their marginals.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "math/compensated_sum.hpp"
#include "treesample/math/log_bounds.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/approximation.hpp"

namespace treesample {

class AskedSum {
 public:
  // Adds a configuration whose log-density is off by at most `error`.
  void add(double log_density, double error) {
    const LogBounds bounds = LogBounds::around(log_density, error);
    lower_.push_back(bounds.lower);
    upper_.push_back(bounds.upper);
    log_most_ = std::max(log_most_, bounds.upper);
  }

  [[nodiscard]] LogBounds bounds() const { return {bounds_of(lower_).lower, bounds_of(upper_).upper}; }
  // An upper bound of the log-densities of all evaluated configurations.
  [[nodiscard]] double log_most() const { return log_most_; }

 private:
  // The error consists of several parts, with u = kEpsilon / 2: log_sum_exp rounds each difference d to the largest
  // term, which is an error of u |d| exp(d) <= u / e of the sum, and the sum is at least 1; each exp; each addition;
  // the logarithm; and the last addition.
  static LogBounds bounds_of(const std::vector<double>& terms) {
    const double value = log_sum_exp(terms);
    const double error = kEpsilon * (2.0 * static_cast<double>(terms.size()) + 4.0 + std::abs(value));
    return value == kNegInf ? LogBounds{value, value} : LogBounds::around(value, error);
  }

  std::vector<double> lower_, upper_;
  double log_most_ = kNegInf;
};

// Differences that rounding has made negative become 0.
inline void normalise(std::vector<double>& weights) {
  double total = 0.0;
  for (double& weight : weights) total += (weight = std::max(weight, 0.0));
  for (double& weight : weights) weight = total > 0.0 ? weight / total : 0.0;
}

// Marginals of the distribution over evaluated configurations alone. log_most is the largest of their log-densities.
inline Marginals marginals_of(const std::vector<Configuration>& asked, const FactorGraph& graph, double log_most) {
  Marginals result;
  for (int v = 0; v < graph.num_variables(); ++v) result.emplace_back(graph.num_states(v), 0.0);
  for (const Configuration& known : asked) {
    if (known.log_density == kNegInf) continue;
    const double weight = std::exp(known.log_density - log_most);
    for (std::size_t v = 0; v < result.size(); ++v) result[v][known.x[v]] += weight;
  }
  for (std::vector<double>& weights : result) normalise(weights);
  return result;
}

}  // namespace treesample
