// Leaf values that agree between levels, made from leaf values that do not.
//
// A search compares an edge that was evaluated, R + V(x o a), with one that was not, Q_phi(a | x). Where the values of
// the two levels have errors of their own (a graph network sees only a few edges far, and from a read-out that changes
// with the level), the difference between them is noise, the Bellman residual
//
//   R_n(x_<=n) + log sum over a of exp Q_phi_{n+1}(a | x_<=n) - Q_phi_n(x_n | x_<n),
//
// and the log-weights of P_X have that noise. Only differences within a node can be trusted. So here a child has the
// value that its parent's edge promised,
//
//   V(x o a) := Q(a | x) - R(x o a),        Q(a' | x o a) := V(x o a) + log softmax Q_phi(a' | x o a),
//
// down to the last level, where V = 0 takes its place: until real leaves are reached nothing changes, and what then
// changes is known. Unrolled, V(x_<n) = V(root) + log q(x_<n) - sum of the rewards so far, which depends only on the
// prefix. V(root) decides how much all unknown leaves together weigh against the known ones, and is worth some samples.
//
// Below a leaf, samples are drawn from q, the distribution of the leaf value that this one is made from. So the right
// value of a leaf is not log Z below it but the value of q there, V^q = E_q[log gamma - log q] = log Z - KL (eq. 5 in
// observation 1): with it P_X, the softmax of the values of known and unknown edges, is the nearest to the target of
// all distributions that continue with q. V(root) is therefore the mean of the logarithms of the samples' weights and
// not the logarithm of their mean, which would give a q that is a nat off e times the mass that it deserves.
//
// Values that do agree between levels are worth more: V_phi(x o a) then shows that this sub-problem is better or worse
// than the edge promised. In between, where true values wander from level to level and errors of V_phi do not, the best
// estimate is a filter,
//
//   V(x o a) := E + trust (V_phi(x o a) + shift - E),        E = Q(a | x) - R(x o a),
//
// telescoped for trust = 0, the network's own values for 1. The trust that predicts the samples best is used: about
// 0.02 for graph networks of 4 iterations, 0.1 to 1 for perceptrons.
#pragma once

#include <cstdint>
#include <memory>

#include "treesample/math/random.hpp"
#include "treesample/space/budget.hpp"
#include "treesample/space/known_path.hpp"
#include "treesample/value/leaf_value.hpp"

namespace treesample {

struct Calibration {
  double root_value = 0.0;  // V(root)
  double shift = 0.0;       // V(root) minus that of the leaf value itself
  double trust = 0.0;

  // V of a child, where its parent expects E and the leaf value's own value is `own`.
  [[nodiscard]] double value(double expected, double own) const;
};

class TelescopedValue final : public LeafValue {
 public:
  // `of` is made for the same space, a path. V(root) replaces that of `of`, where possible.
  TelescopedValue(const SearchSpace& space, std::shared_ptr<const LeafValue> of, const Calibration& calibration);

  // Those of `of`; at the first level they are shifted to V(root).
  void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const override;
  void q_values_given(int level, std::span<const int> prefix, double expected, std::span<double> q) const override;
  double draw_below(int level, std::span<int> x, Random& random, StopCheck& stop) const override;
  [[nodiscard]] double log_prob_below(int level, std::span<const int> x) const override;
  void probabilities(int level, std::span<const int> x, std::span<double> probs) const override;

 private:
  std::shared_ptr<const LeafValue> of_;
  Calibration calibration_;
};

struct RootSamplesOptions {
  int count = 200;
  double share = 0.8;       // of the budget, at most
  double correcting = 0.8;  // of the samples: for corrections of Q_phi (value/corrected_value.hpp)

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

struct Telescoped {
  std::shared_ptr<const LeafValue> value;
  // V(root) is the mean log-weight of the possible samples plus the log of their share; that of `of` where there are
  // none.
  Calibration calibration;
  int num_samples = 0;
  // An estimate of how far the corrected `of` alone is from the target: the logarithm of the mean weight minus V(root),
  // which tends to be too low. 0 without samples, +inf with an impossible one.
  double sampled_kl = 0.0;
  static constexpr double kTrustedKl = 1.0;
  Spending spent;  // to be subtracted from the budget of the search; prefixes that samples share are paid for once
  std::shared_ptr<const KnownPaths> known;  // the samples, for TreeSearchOptions: nothing is paid for twice
};

// Draws samples of `of`, paid from the budget: the first ones correct its Q-values, those of the corrected values give
// V(root) and trust. The paid rewards are passed on to the search.
Telescoped telescope(const FactorGraph& graph, const SearchSpace& space, std::shared_ptr<const LeafValue> of,
                     const Budget& budget, const RootSamplesOptions& options, std::uint64_t seed);

}  // namespace treesample
