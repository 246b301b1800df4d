// R_n of the edges of the tree: looked up or evaluated, and charged to the budget.
#pragma once

#include <algorithm>
#include <climits>
#include <optional>
#include <span>
#include <vector>

#include "math/reward_factor.hpp"
#include "space/reward_tables.hpp"
#include "tree/tree_path.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

class EdgeRewards {
 public:
  // Keeps a reference to the graph.
  EdgeRewards(const FactorGraph& graph, const SearchSpace& space, const Limits& limits);

  [[nodiscard]] const RewardTables& tables() const { return tables_; }
  [[nodiscard]] const Budget& budget() const { return budget_; }

  // Can the rest of the budget pay for the reward of any edge?
  [[nodiscard]] bool can_pay() const { return budget_.allows(fewest_factors_); }

  // Evaluates R_n of an edge, the last one of the prefix x, and charges it to the budget. Returns false if there is no
  // reward; why_not() then says why.
  template <class NodeView>
  bool pay(Step<NodeView>& edge, std::span<const int> x) {
    if (!budget_.allows(reward_.price(edge.level))) return false;
    // Where R = -inf, only the factors up to the first -inf are paid for. The table of rewards does not say how many
    // these are, so the reward is then evaluated.
    if (tables_[edge.level].factors != nullptr && edge.factor != 0.0) {
      budget_.spend(reward_.num_factors(edge.level));
      return true;
    }
    const std::optional<double> reward = reward_.try_evaluate(edge.level, x, budget_);
    if (!reward) {
      const bool is_failed = failure() && failure()->code() != ErrorCode::kInterrupted;
      why_not_ = is_failed ? StopReason::kFactorFailed : StopReason::kInterrupted;
      return false;
    }
    set(edge, *reward, reward_.magnitude());
    return true;
  }
  [[nodiscard]] StopReason why_not() const { return why_not_; }
  // Gives an edge a reward at no cost. `magnitude`: Reward::magnitude().
  template <class NodeView>
  void set(Step<NodeView>& edge, double reward, double magnitude) {
    magnitudes_[edge.level] = std::max(magnitudes_[edge.level], magnitude);
    edge.factor = factor_of_reward(reward);
    if (edge.node.has_factors()) edge.node.factors()[edge.action] = edge.factor;
  }

  // The error of kFactorFailed.
  [[nodiscard]] const std::optional<Error>& failure() const { return reward_.failure(); }
  // The largest magnitude of each level.
  [[nodiscard]] std::span<const double> magnitudes() const { return magnitudes_; }

 private:
  Reward reward_;
  RewardTables tables_;
  Budget budget_;
  int fewest_factors_ = INT_MAX;  // of any reward
  std::vector<double> magnitudes_;
  StopReason why_not_ = StopReason::kBudget;
};

}  // namespace treesample
