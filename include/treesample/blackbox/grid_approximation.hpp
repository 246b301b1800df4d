// A distribution over an enumerated domain, given by log weights, the last variable changing fastest.
#pragma once

#include <span>
#include <vector>

#include "treesample/model/approximation.hpp"

namespace treesample {

class GridApproximation final : public Approximation {
 public:
  GridApproximation(std::vector<int> num_states, std::vector<double> log_weights);

  [[nodiscard]] double log_value() const { return log_z_; }
  [[nodiscard]] std::span<const double> log_weights() const { return log_weights_; }
  [[nodiscard]] const std::vector<int>& num_states() const { return num_states_; }
  [[nodiscard]] Assignment sample(Random& random) const override;
  [[nodiscard]] double log_prob(std::span<const int> x) const override;
  [[nodiscard]] Marginals marginals() const;

 private:
  std::vector<int> num_states_;
  std::vector<double> log_weights_, sums_;  // sums_: of exp(log weight - log Z), up to and including each
  double log_z_ = 0.0;
};

}  // namespace treesample
