// Passes over all nodes of a store. ReachPass takes parents before children, with the probability that a sample passes
// through a node; pass_up takes children before parents, with any value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "treesample/model/approximation.hpp"
#include "treesample/stop.hpp"
#include "treesample/store/store_view.hpp"

namespace treesample {

// The nodes of a store, level by level. At each level they have positions from 0 on. If indices are dense, a position
// is an index; some positions may then have no node.
class NodesByLevel {
 public:
  // `should_stop` ends the construction with Error (kInterrupted).
  explicit NodesByLevel(const StoreView& view, const ShouldStop& should_stop = {});

  [[nodiscard]] const StoreView& view() const { return *view_; }
  [[nodiscard]] std::uint32_t size(int level) const {
    return view_->is_tree() ? static_cast<std::uint32_t>(order_[level].size()) : view_->end_index(level);
  }
  [[nodiscard]] NodeIndex index(int level, std::uint32_t position) const {
    return view_->is_tree() ? order_[level][position] : position;
  }
  [[nodiscard]] std::uint32_t position(NodeIndex index) const { return view_->is_tree() ? positions_[index] : index; }

 private:
  const StoreView* view_;
  // Only for a tree, whose levels share their indices.
  std::vector<std::vector<NodeIndex>> order_;  // by level
  std::vector<std::uint32_t> positions_;       // by index
};

// Parents before children. The visitor of a node says how much of the node's probability reaches each child.
class ReachPass {
 public:
  ReachPass(const StoreView& view, StoreView::Read what, const ShouldStop& should_stop = {})
      : nodes_(view, should_stop), what_(what), reach_(view.space().levels.size()) {
    for (const int root : view.space().roots) make_room(root);
  }

  [[nodiscard]] const NodesByLevel& nodes() const { return nodes_; }
  // Call it for the roots before run; the visitor calls it afterwards. Returns true the first time that it is called
  // for a node.
  bool arrive(int level, NodeIndex index, double probability) {
    double& reach = reach_[level][nodes_.position(index)];
    const bool is_first = reach == 0.0;
    reach += probability;
    return is_first;
  }
  // Calls visit(level, position, probability, edges) for every node with a probability above 0, and leave_level(level)
  // after the last node of a level. Either may end the pass by returning false; run then returns false.
  template <class Visit, class LeaveLevel>
  bool run(Visit visit, LeaveLevel leave_level) {
    const SearchSpace& space = nodes_.view().space();
    NodeEdges edges;
    for (int n = 0; n < space.num_levels(); ++n) {
      for (const int child : space.levels[n].children) make_room(child);
      for (std::uint32_t i = 0; i < nodes_.size(n); ++i) {
        if (!(reach_[n][i] > 0.0) || !nodes_.view().read(n, nodes_.index(n, i), what_, edges)) continue;
        if (!visit(n, i, reach_[n][i], edges)) return false;
      }
      reach_[n] = {};
      if (!leave_level(n)) return false;
    }
    return true;
  }

 private:
  void make_room(int level) { reach_[level].assign(nodes_.size(level), 0.0); }

  NodesByLevel nodes_;
  StoreView::Read what_;
  std::vector<std::vector<double>> reach_;
};

// The states of the context of each node, for passes that need them outside of the store. In `tree` the caller gives
// the context of a node.
class NodeContexts {
 public:
  // `contexts`: for each level its context in ascending order; it lies within the parent's context and the parent
  // itself.
  explicit NodeContexts(const SearchSpace& space, std::vector<std::vector<int>> contexts);

  [[nodiscard]] std::span<const int> levels(int level) const { return contexts_[level]; }
  void make_room(int level, std::uint32_t num_nodes) { states_[level].resize(contexts_[level].size() * num_nodes); }
  void forget(int level) { states_[level] = {}; }
  [[nodiscard]] std::span<int> at(int level, std::uint32_t position) {
    return std::span(states_[level]).subspan(contexts_[level].size() * position, contexts_[level].size());
  }
  // The context of a child below an edge of a node with these states.
  void derive(int child, std::span<const int> parent, int action, std::span<int> result) const {
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = sources_[child][i] < 0 ? action : parent[static_cast<std::size_t>(sources_[child][i])];
    }
  }

 private:
  std::vector<std::vector<int>> contexts_, states_;
  std::vector<std::vector<int>> sources_;  // per entry of a context: its position in the parent's, -1 for the action
};

// Children before parents. Returns, by level and position, the value of combine(level, edges, child), where
// child(action, j) is the value of the j-th child below an edge, or `off_store` if that child is not in the store.
// Positions without a node have `off_store` too. `should_stop` ends the pass with Error (kInterrupted), which names
// `function`.
template <class Value, class Combine>
std::vector<std::vector<Value>> pass_up(const NodesByLevel& nodes, StoreView::Read what, const Value& off_store,
                                        Combine combine, const char* function = "pass",
                                        const ShouldStop& should_stop = {}) {
  const SearchSpace& space = nodes.view().space();
  StopCheck stop(should_stop);
  std::vector<std::vector<Value>> values(space.levels.size());
  NodeEdges edges;
  for (int n = space.num_levels() - 1; n >= 0; --n) {
    const std::vector<int>& children = space.levels[n].children;
    values[n].assign(nodes.size(n), off_store);
    const auto child = [&](int action, std::size_t j) -> const Value& {
      const NodeIndex link = edges.children[static_cast<std::size_t>(action) * children.size() + j];
      return link == kNoNode ? off_store : values[children[j]][nodes.position(link)];
    };
    for (std::uint32_t i = 0; i < nodes.size(n); ++i) {
      stop.go_on(function, 8);
      if (nodes.view().read(n, nodes.index(n, i), what, edges)) values[n][i] = combine(n, edges, child);
    }
  }
  return values;
}

// The best configuration among those whose factors were all evaluated.
struct StoredBest : Configuration {
  double excess = 0.0;  // none of the others is better by more than this, rounding included
};

// Returns none if there is no such configuration. If several are equal up to rounding, it is the one with the lowest
// states. `reward_rounding` is by level: a reward R with m factors is off by at most this plus 2^-52 ((m + 1) |R| + m +
// 4); if it is empty, rewards are taken to be exact. `should_stop` ends it with Error (kInterrupted).
std::optional<StoredBest> best_in_store(const StoreView& view, std::span<const double> reward_rounding = {},
                                        const ShouldStop& should_stop = {});

}  // namespace treesample
