// Q-values with a correction added for each level and state, which is learned from samples.
//
// Let q be the softmax of Q_phi and log w(x) = log gamma(x) - log q(x) the weight of a sample. Add theta_n(a) to
// Q_phi_n(a | x) for all x. The derivative of V^q = E_q[log w] = log Z - KL (observation 1) with respect to theta_n(a)
// is
//
//   E_q[log w(x) xi_n(a)],        xi_n(a) = 1[x_n = a] - q(a | x_<n),
//
// and the xi of different levels are uncorrelated under q. So the coefficients of the regression of log w on xi are a
// natural-gradient step of length 1, which is the best step if KL is half the variance of log w; the share of the
// variance that they explain is the share that the KL loses. A network that was trained on other problems, or on noisy
// targets, is off in a way that all samples of one problem share, and some tens of samples show it.
//
// Because samples are few, the regression has a ridge, the variance of log w over kPriorVariance: before any sample is
// seen, coefficients are assumed to have that prior variance, so that nothing is learned from noise alone.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "treesample/value/leaf_value.hpp"

namespace treesample {

class CorrectedValue final : public LeafValue {
 public:
  // `of` must be made for the same space, a path. `shifts` has a row for each level, with a number for each state.
  // V_phi, the log sum exp of a row, does not change.
  CorrectedValue(const SearchSpace& space, std::shared_ptr<const LeafValue> of,
                 std::vector<std::vector<double>> shifts);

  void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const override;

 private:
  std::shared_ptr<const LeafValue> of_;
  std::vector<std::vector<double>> shifts_;
};

// One sample of the regression.
struct Innovations {
  std::span<const double> xi;  // of all levels and states, level by level
  double log_weight = 0.0;     // finite
};
inline constexpr double kPriorVariance = 0.2;
// The shifts of CorrectedValue; all 0 for fewer than two samples. Only the first kMostCorrectingSamples are used.
inline constexpr int kMostCorrectingSamples = 512;
std::vector<std::vector<double>> fit_shifts(const SearchSpace& space, std::span<const Innovations> samples);

}  // namespace treesample
