#include "treesample/blackbox/grid_approximation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

GridApproximation::GridApproximation(std::vector<int> num_states, std::vector<double> log_weights)
    : num_states_(std::move(num_states)), log_weights_(std::move(log_weights)), log_z_(log_sum_exp(log_weights_)) {
  double sum = 0.0;
  for (const double log_weight : log_weights_) {
    if (log_z_ != kNegInf) sum += std::exp(log_weight - log_z_);
    sums_.push_back(sum);
  }
}

Assignment GridApproximation::sample(Random& random) const {
  check_argument(log_z_ != kNegInf, "BlackBox", "no configuration has a positive probability");
  const double at = random.uniform() * sums_.back();
  auto place = static_cast<std::size_t>(std::upper_bound(sums_.begin(), sums_.end(), at) - sums_.begin());
  Assignment x(num_states_.size());
  for (std::size_t v = x.size(); v-- > 0;) {
    x[v] = static_cast<int>(place % static_cast<std::size_t>(num_states_[v]));
    place /= static_cast<std::size_t>(num_states_[v]);
  }
  return x;
}

double GridApproximation::log_prob(std::span<const int> x) const {
  check_states("log_prob", num_states_, x);
  std::size_t place = 0;
  for (std::size_t v = 0; v < x.size(); ++v) {
    place = place * static_cast<std::size_t>(num_states_[v]) + static_cast<std::size_t>(x[v]);
  }
  return log_z_ == kNegInf ? kNegInf : log_weights_[place] - log_z_;
}

Marginals GridApproximation::marginals() const {
  Marginals result;
  for (const int k : num_states_) result.emplace_back(k, 0.0);
  Assignment x(num_states_.size(), 0);
  for (const double log_weight : log_weights_) {
    const double p = log_z_ == kNegInf ? 0.0 : std::exp(log_weight - log_z_);
    for (std::size_t v = 0; v < x.size(); ++v) result[v][static_cast<std::size_t>(x[v])] += p;
    for (std::size_t v = x.size(); v-- > 0;) {
      if (++x[v] < num_states_[v]) break;
      x[v] = 0;
    }
  }
  return result;
}

}  // namespace treesample
