// Samples of a leaf value with their weights. Their rewards are paid for; they show how good the leaf value is before a
// search begins.
#pragma once

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "treesample/math/random.hpp"
#include "treesample/space/budget.hpp"
#include "treesample/space/known_path.hpp"
#include "treesample/space/reward.hpp"
#include "treesample/value/leaf_value.hpp"

namespace treesample {

// The rewards that were paid for, as a tree of prefixes that the samples share.
class PaidRewards {
 public:
  // Keeps references to graph and space.
  PaidRewards(const FactorGraph& graph, const SearchSpace& space, const Budget& budget)
      : space_(space), reward_(graph, space), budget_(budget) {}

  // R_n at x. The previous call must have been for the level before at the same x, except at level 0. None if the
  // budget ends or a function fails.
  std::optional<KnownPath::Step> at(int level, std::span<const int> x);
  [[nodiscard]] const Spending& spent() const { return budget_.spent(); }
  // Limits the total spending, in the unit of the budget, until the next call.
  void spend_up_to(double most) {
    most_ = most;
    is_over_ = false;
  }
  // The number of samples that could be paid for if they shared nothing; at least 1.
  [[nodiscard]] int most_samples() const;
  // True if no further sample can be paid for.
  [[nodiscard]] bool is_over() const { return is_over_; }

 private:
  struct Edge {
    int node = 0;
    KnownPath::Step step;
  };
  const SearchSpace& space_;
  Reward reward_;
  Budget budget_;
  std::map<std::pair<int, int>, Edge> edges_;  // by the node above and the state
  int node_ = 0, num_nodes_ = 0;
  double most_ = HUGE_VAL;
  bool is_over_ = false;
};

// A sample x of q, the softmax of the Q-values of a leaf value.
struct WeighedSample {
  KnownPath path;                    // with the rewards that were paid for
  std::vector<double> values;        // by level: V_phi(x_<n), log sum over a of exp Q_phi
  std::vector<double> log_probs;     // by level: log q(x_n | x_<n)
  std::vector<double> innovations;   // by level and state a: 1[x_n = a] - q(a | x_<n)
  std::optional<double> log_weight;  // log gamma(x) / q(x); none if the budget ended before the last reward
};

// Up to `count` samples. There are fewer if the budget ends, and the last of them may then have no weight.
std::vector<WeighedSample> weighed_samples(const SearchSpace& space, const LeafValue& of, int count,
                                           PaidRewards& rewards, Random& random);

}  // namespace treesample
