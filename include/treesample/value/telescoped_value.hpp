// Leaf values that agree between levels, made from leaf values that do not.
//
// A search compares an edge that was evaluated, R + V(x o a), with one that was not, Q_phi(a | x). The values of the
// two levels may have errors of their own: a graph network sees only a few edges far, and from a read-out that changes
// with the level. The difference between the two is then noise, the Bellman residual
//
//   R_n(x_<=n) + log sum over a of exp Q_phi_{n+1}(a | x_<=n) - Q_phi_n(x_n | x_<n),
//
// and the log-weights of P_X inherit it. Only differences within a node can be trusted. So here a child gets the value
// that its parent's edge promised,
//
//   V(x o a) := Q(a | x) - R(x o a),        Q(a' | x o a) := V(x o a) + log softmax Q_phi(a' | x o a),
//
// down to the last level, where V = 0 takes its place. Values change only when a real leaf is reached, and then by a
// known amount. Unrolled, V(x_<n) = V(root) + log q(x_<n) - sum of the rewards so far, which depends only on the
// prefix. V(root) decides how much all unknown leaves together weigh against the known ones. It matters enough to spend
// some samples on it.
//
// Below a leaf, samples are drawn from q, the distribution of the underlying leaf value. So the right value of a leaf
// is not log Z below it but the value of q there, V^q = E_q[log gamma - log q] = log Z - KL (eq. 5 in observation 1):
// with it P_X, the softmax of the values of known and unknown edges, is the nearest to the target of all distributions
// that continue with q. V(root) is therefore the mean of the logarithms of the samples' weights and not the logarithm
// of their mean. The latter would give e times the deserved mass to a q that is one nat from the target.
//
// Values that do agree between levels carry more information: V_phi(x o a) then shows that this sub-problem is better
// or worse than the edge promised. In between, if true values wander from level to level and the errors of V_phi do
// not, the best estimate is a filter,
//
//   V(x o a) := E + trust (V_phi(x o a) + shift - E),        E = Q(a | x) - R(x o a),
//
// With trust = 0 the values are telescoped; with trust = 1 they are the network's own. The trust that predicts the
// samples best is used: about 0.02 for graph networks of 4 iterations, 0.1 to 1 for perceptrons.
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
  double shift = 0.0;       // V(root) minus the value that the leaf value itself has there
  double trust = 0.0;

  // V of a child if its parent expects E = `expected` and the leaf value's own value is `own`.
  [[nodiscard]] double value(double expected, double own) const;
};

class TelescopedValue final : public LeafValue {
 public:
  // `of` must be made for the same space, a path. V(root) replaces the value of `of`, where possible.
  TelescopedValue(const SearchSpace& space, std::shared_ptr<const LeafValue> of, const Calibration& calibration);

  // The Q-values of `of`; at the first level they are shifted to V(root).
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
  double correcting = 0.8;  // share of the samples that is used for corrections of Q_phi (value/corrected_value.hpp)

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

struct Telescoped {
  std::shared_ptr<const LeafValue> value;
  // V(root) is the mean log-weight of the possible samples plus the log of their share. If none is possible, it is the
  // value of `of`.
  Calibration calibration;
  int num_samples = 0;
  // An estimate of how far the corrected `of` alone is from the target: the logarithm of the mean weight minus V(root).
  // It tends to be too low. 0 without samples; +inf if a sample was impossible.
  double sampled_kl = 0.0;
  static constexpr double kTrustedKl = 1.0;
  Spending spent;  // to be subtracted from the budget of the search; samples that share a prefix pay for it once
  std::shared_ptr<const KnownPaths> known;  // the samples, so that the search does not pay for them again
};

// Draws samples of `of`, paid from the budget. The first ones correct its Q-values; later ones, drawn from the
// corrected values, give V(root) and trust. The paid rewards are passed on to the search.
Telescoped telescope(const FactorGraph& graph, const SearchSpace& space, std::shared_ptr<const LeafValue> of,
                     const Budget& budget, const RootSamplesOptions& options, std::uint64_t seed);

}  // namespace treesample
