// The rewards of the edges of a node: evaluated, or asked for in the graph's queue, and charged to the budget.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "search/search_path.hpp"
#include "space/reward_queue.hpp"
#include "treesample/space/limits.hpp"
#include "treesample/space/reward.hpp"

namespace treesample {

// Of all edges of a node.
struct RewardRow {
  std::vector<double> rewards, magnitudes;  // Reward::magnitude() of each reward
};

// An expansion that waits for its rewards.
struct PendingExpansion {
  SearchPath path;
  BoundStore::Place node;
};

class NodeRewards {
 public:
  // Keeps references to the graph and to the space. With `has_free_levels`, a level without factors costs nothing.
  NodeRewards(const FactorGraph& graph, const SearchSpace& space, const Limits& limits, AnswerOrder order,
              bool has_free_levels);
  // For one of several threads, with a budget of its own and without a queue.
  NodeRewards(const NodeRewards& other, const Limits& limits);

  [[nodiscard]] const Budget& budget() const { return budget_; }
  void spend(const Spending& spending) { budget_.spend(spending); }
  [[nodiscard]] bool has_functions() const { return has_functions_; }
  [[nodiscard]] bool is_free(int level) const { return has_free_levels_ && reward_.num_factors(level) == 0; }
  // True at the levels at which a traversal of the mass rule ends. Pre: the level is not free.
  [[nodiscard]] bool is_asking(int level) const { return !has_functions_ || !reward_.functions(level).empty(); }
  // Can the rest of the budget pay for the edges of a node? Pre: x holds the path down to it; it is unchanged
  // afterwards.
  [[nodiscard]] bool can_pay(int level, Assignment& x);

  // Pre for both: can_pay. x is unchanged afterwards. The row is valid until the next call. Returns null if a factor
  // failed; failure() is then set.
  const RewardRow* evaluate(int level, Assignment& x);
  // The same if the rewards are known without a program. Otherwise returns null, and the node is pending. Pre:
  // has_queue().
  const RewardRow* submit(BoundStore::Place node, const SearchPath& path);

  [[nodiscard]] bool has_queue() const { return queue_ != nullptr; }
  [[nodiscard]] bool has_pending() const { return !pending_.empty(); }
  // Should more be submitted before waiting? Pre: has_queue().
  [[nodiscard]] bool has_room() const { return queue_->has_room(); }
  // Waits until there are rewards or, with `or_room`, until a worker is free. After an error there may be none;
  // failure() is then set.
  std::vector<RewardAnswer> wait(bool or_room);
  // The expansion that waited for this answer; it is no longer pending. An answer without rewards sets failure().
  PendingExpansion take(const RewardAnswer& answer);
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  [[nodiscard]] std::int64_t num_new_calls(int level, Assignment& x);

  const SearchSpace& space_;
  bool has_free_levels_, has_functions_;
  Reward reward_;
  Budget budget_;
  std::unique_ptr<RewardQueue> queue_;                // null with one worker
  std::map<std::int64_t, PendingExpansion> pending_;  // by id in the queue
  RewardRow row_;                                     // evaluated last
  std::optional<Error> failure_;
};

}  // namespace treesample
