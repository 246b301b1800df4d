// Backs nodes of the search up: their values from those of their edges, and the edge that the next traversal takes.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "search/edge_bounds.hpp"
#include "search/node_rewards.hpp"
#include "search/search_path.hpp"
#include "search/selection_rule.hpp"

namespace treesample {

class NodeBackup {
 public:
  // Keeps references to the store and to the rule.
  NodeBackup(const FactorGraph& graph, BoundStore& store, SelectionRule& rule, bool has_free_estimates);
  // For one of several threads: what was seen so far holds for it too.
  NodeBackup(const NodeBackup& other, BoundStore& store, SelectionRule& rule);

  // Rewards must be seen before their edges are backed up.
  void see_rewards(int level, const RewardRow& row) { edges_.see_rewards(level, row.rewards, row.magnitudes); }
  void see_rewards(const NodeBackup& other) { edges_.see_rewards(other.edges_); }
  [[nodiscard]] std::vector<double> reward_rounding() const { return edges_.reward_rounding(); }

  // Backs up an expanded node and makes its choice. A node without an open edge is then pending, and blocked. Returns
  // its edges, valid until the next call of this object.
  const EdgeBounds& back_up(BoundStore::Place place);
  // The same for the nodes of a path, from the last one up, and clears its states.
  void back_up_path(SearchPath& path);
  // The edges of a node, with values of their own and not backed up. Valid until the next call of this object.
  const EdgeBounds& edges_of(BoundStore::Place place);

  // Rewards have arrived: nodes that were blocked because of them, over any path, may be chosen again.
  void release_blocked();
  void forget_blocked_if(const std::function<bool(BoundStore::Place)>& is_forgotten);

 private:
  BoundStore& store_;
  SelectionRule& rule_;
  EdgeBounds edges_;
  std::vector<BoundStore::Place> blocked_;  // expanded nodes that are pending
};

}  // namespace treesample
