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
// Samples go on as they would under the leaf value that this one is made of.
#pragma once

#include <cstdint>
#include <memory>

#include "treesample/math/random.hpp"
#include "treesample/space/budget.hpp"
#include "treesample/value/leaf_value.hpp"

namespace treesample {

class TelescopedValue final : public LeafValue {
 public:
  // `of` is made for the same space, a path. `root_value` takes the place of its V(root), where that is possible.
  TelescopedValue(const SearchSpace& space, std::shared_ptr<const LeafValue> of, double root_value);

  // Those of `of`, at the first level moved to V(root).
  void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const override;
  void q_values_given(int level, std::span<const int> prefix, double expected, std::span<double> q) const override;
  double sample_below(int level, std::span<int> x, Random& random) const override;
  [[nodiscard]] double log_prob_below(int level, std::span<const int> x) const override;
  void probabilities(int level, std::span<const int> x, std::span<double> probs) const override;

 private:
  std::shared_ptr<const LeafValue> of_;
  double root_value_;
};

struct RootSamplesOptions {
  int count = 50;
  // Of the budget, at most: 50 samples of 20 rewards out of 2500 are 0.4.
  double share = 0.4;

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

struct Telescoped {
  std::shared_ptr<const LeafValue> value;
  double root_value = 0.0;  // the mean of the weights of the samples; V(root) of `of` where there are none
  int num_samples = 0;
  // How far `of` alone is from the target, as the samples tell: V(root) less the mean logarithm of their weights. Where
  // that is more than about a nat (kTrustedKl) its differences within a node are not to be trusted either, and a search
  // with its own values, which corrects them level by level, is better. 0 without samples, +inf with an impossible one.
  double sampled_kl = 0.0;
  static constexpr double kTrustedKl = 1.0;
  Spending spent;  // to be taken off the budget of the search
};

// V(root) is the logarithm of the mean weight of samples of `of`, whose rewards are paid for: a low estimate on average
// (the logarithm is concave), by about half the variance of the weights over the count.
Telescoped telescope(const FactorGraph& graph, const SearchSpace& space, std::shared_ptr<const LeafValue> of,
                     const Budget& budget, const RootSamplesOptions& options, std::uint64_t seed);

}  // namespace treesample
