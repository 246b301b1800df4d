// Leaf values that agree between levels, made of ones that do not.
//
// A search compares an edge that was evaluated, R + V(x o a), with one that was not, Q_phi(a | x). Where the two levels
// come from an estimate with errors of their own (a graph network that sees a few edges far from a read-out that
// moves), the difference between them is noise, the Bellman residual
//
//   R_n(x_<=n) + log sum over a of exp Q_phi_{n+1}(a | x_<=n) - Q_phi_n(x_n | x_<n),
//
// and P_X gets log-weights with that noise. Only the differences within a node can be trusted. So a child here has the
// value that its parent's edge has promised,
//
//   V(x o a) := Q(a | x) - R(x o a),        Q(a' | x o a) := V(x o a) + log softmax Q_phi(a' | x o a),
//
// down to the last level, where V = 0 takes its place: until real leaves are reached nothing changes, and what then
// changes is known. Unrolled, V(x_<n) = V(root) + log q(x_<n) - sum of the rewards so far: a function of the prefix
// alone. How much all leaves weigh together against those that are known is V(root), which is worth some samples.
//
// Samples go on as they would under the leaf value that this one is made of, q. So what is to be known of a leaf is not
// log Z below it but what q makes of that, V^q = E_q[log gamma - log q] = log Z - KL (eq. 4 and observation 1): then
// P_X, which is the softmax of the values of known and of unknown edges, is the nearest to the target of all that go on
// with q. V(root) is therefore the mean of the logarithms of the samples' weights and not the logarithm of their mean,
// which gives a q that is a nat off e times the mass that it deserves.
//
// Values that do agree between levels are worth more: V_phi(x o a) then tells that this sub-problem is better or worse
// than the edge promised. In between, with true values that wander from level to level and errors of V_phi that do not,
// the best estimate is a filter,
//
//   V(x o a) := E + trust (V_phi(x o a) + shift - E),        E = Q(a | x) - R(x o a),
//
// telescoped for trust = 0, the network's own values for 1. The samples say which trust foretells them best: about 0.02
// for graph networks of 4 iterations, 0.1 to 1 for perceptrons.
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
  double shift = 0.0;       // V(root) less that of the leaf value itself
  double trust = 0.0;

  // V of a child of which its parent expects E and the leaf value says `own`.
  [[nodiscard]] double value(double expected, double own) const;
};

class TelescopedValue final : public LeafValue {
 public:
  // `of` is made for the same space, a path. V(root) takes the place of that of `of`, where that is possible.
  TelescopedValue(const SearchSpace& space, std::shared_ptr<const LeafValue> of, const Calibration& calibration);

  // Those of `of`, at the first level moved to V(root).
  void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const override;
  void q_values_given(int level, std::span<const int> prefix, double expected, std::span<double> q) const override;
  double sample_below(int level, std::span<int> x, Random& random) const override;
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
  // V(root) is the mean log-weight of the samples, those that are impossible left out and their share taken off; that
  // of `of` where there are none.
  Calibration calibration;
  int num_samples = 0;
  // How far the corrected `of` alone is from the target, as the samples tell: the logarithm of their mean weight less
  // V(root); a low estimate. 0 without samples, +inf with an impossible one.
  double sampled_kl = 0.0;
  static constexpr double kTrustedKl = 1.0;
  Spending spent;  // to be taken off the budget of the search; prefixes that samples share are paid for once
  std::shared_ptr<const KnownPaths> known;  // the samples, for TreeSearchOptions: nothing is paid for twice
};

// Samples of `of`, out of the budget: the first ones correct its Q-values, those of the result say V(root) and trust.
// The rewards that were paid for are handed on to the search.
Telescoped telescope(const FactorGraph& graph, const SearchSpace& space, std::shared_ptr<const LeafValue> of,
                     const Budget& budget, const RootSamplesOptions& options, std::uint64_t seed);

}  // namespace treesample
