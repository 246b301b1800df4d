// Q-values with a number added for each level and state, which samples of them tell.
//
// Let q be the softmax of Q_phi, log w(x) = log gamma(x) - log q(x) the weight of a sample, and add theta_n(a) to
// Q_phi_n(a | x) for all x. The derivative of V^q = E_q[log w] = log Z - KL (observation 1) by theta_n(a) is
//
//   E_q[log w(x) xi_n(a)],        xi_n(a) = 1[x_n = a] - q(a | x_<n),
//
// and the xi of different levels are uncorrelated under q. So the coefficients of the regression of log w on xi are a
// natural-gradient step of length 1, the best one where KL is half the variance of log w, and what they explain of that
// variance is what the KL loses. A network that was trained on other problems, or on noisy targets, is off in a way
// that all samples of one problem share, and some tens of samples tell.
//
// With few samples the regression has a ridge, the variance of log w over kPriorVariance: coefficients are believed to
// be of that variance before any sample is seen, and none is learned from nothing.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "treesample/value/leaf_value.hpp"

namespace treesample {

class CorrectedValue final : public LeafValue {
 public:
  // `of` is made for the same space, a path; `shifts` has a row for each level with a number for each state. V_phi, the
  // log sum exp of a row, stays as it is.
  CorrectedValue(const SearchSpace& space, std::shared_ptr<const LeafValue> of,
                 std::vector<std::vector<double>> shifts);

  void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const override;

 private:
  std::shared_ptr<const LeafValue> of_;
  std::vector<std::vector<double>> shifts_;
};

// One sample of the regression.
struct Innovations {
  std::span<const double> xi;  // of all levels and states, a level after the other
  double log_weight = 0.0;     // finite
};
inline constexpr double kPriorVariance = 0.2;
// The shifts of CorrectedValue; all 0 for fewer than two samples, and only the first kMostCorrectingSamples are looked
// at.
inline constexpr int kMostCorrectingSamples = 512;
std::vector<std::vector<double>> fit_shifts(const SearchSpace& space, std::span<const Innovations> samples);

}  // namespace treesample
