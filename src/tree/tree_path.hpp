// The path of one traversal, and the prefetching of nodes further down.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "space/reward_tables.hpp"
#include "tree/tree_store.hpp"

namespace treesample {

// One edge of the path from the root to the expansion.
template <class NodeView>
struct Step {
  NodeView node;
  int level;
  int action;
  double factor;  // exp(R) of the edge, once it is expanded
};

template <class NodeView>
class TreePath {
 public:
  // Keeps references to both.
  TreePath(TreeStore& store, const RewardTables& rewards)
      : store_(store), steps_(store.space().levels.size()), last_(steps_.size()), x_(steps_.size(), -1) {
    for (int n = 0; n < store.space().num_levels(); ++n) {
      facts_.push_back({store.space().levels[n].variable, rewards[n]});
    }
    look_at_size();
  }

  void begin() {
    if (store_.make_room()) {
      length_ = 0;  // resets hints too: the views are of nodes that have moved
      look_at_size();
    }
    std::swap(steps_, last_);
    last_length_ = std::exchange(length_, 0);
  }
  // Adds the node of the next level and its edge `action`.
  void follow(const NodeView& node, int action) {
    const LevelFacts& facts = facts_[length_];
    Step<NodeView>& step = steps_[length_];
    step = {node, length_, action, factor(length_, node, action)};
    x_[facts.variable] = action;
    ++length_;
    if (NodeView::kHasHints && fetches_ahead_) {
      fetch(node.hints(action).farthest());
      if (length_ == kLevelOfHints) leave_hints();
    }
  }
  // exp(R) of an expanded edge of the path's node at this level.
  [[nodiscard]] double factor(int level, const NodeView& node, int action) const {
    const RewardTable& rewards = facts_[level].rewards;
    return rewards.factors != nullptr ? rewards.at(action, x_.data()) : node.factors()[action];
  }
  // The path is complete; returns its steps.
  std::span<const Step<NodeView>> end() {
    if (NodeView::kHasHints && fetches_ahead_ && length_ < kLevelOfHints) leave_hints();
    return steps();
  }

  // The last step so far.
  [[nodiscard]] Step<NodeView>& last() { return steps_[length_ - 1]; }
  // The steps of the path so far.
  [[nodiscard]] std::span<const Step<NodeView>> steps() const { return {steps_.data(), std::size_t(length_)}; }
  // The states of the prefix, by variable. Variables off the path have -1 if forget() was called after each traversal.
  [[nodiscard]] const std::vector<int>& x() const { return x_; }
  void forget() {
    for (int n = 0; n < length_; ++n) x_[facts_[n].variable] = -1;
  }

  // Called when all choices are made. Stores hints at each node of the last path: the nodes that the next traversal
  // through it will reach after the child. When the nodes outgrow the caches, a traversal is a chain of waits for
  // memory, because each node tells where the next one is. With the hints, five of these waits overlap.
  void leave_hints() const {
    NodeHints below;  // the nodes that the next traversal through the step's edge reaches after the child
    for (int i = last_length_ - 1; i >= kFirstLevelWithHints; --i) {
      const NodeView node = last_[i].node;
      NodeHints above;
      if (!node.is_complete()) {
        const auto choice = static_cast<int>(node.choice());
        const NodeHints noted = node.hints(choice);
        above = (choice == last_[i].action ? below : noted).behind(node.link(choice));
      }
      node.set_hints(last_[i].action, below);
      below = above;
    }
  }
  static constexpr int kFirstLevelWithHints = 9;  // hints lead to levels from 14 on; others stay in a cache

 private:
  static constexpr std::size_t kCacheBytes = std::size_t{8} << 20;
  static constexpr int kLevelOfHints =
      18;  // the level from which it waits for memory: it then has time to store the last one's hints

  struct LevelFacts {
    int variable = 0;
    RewardTable rewards;
  };
  // While the nodes fit into a cache, there is no prefetching.
  void look_at_size() { fetches_ahead_ = store_.held_bytes() > kCacheBytes; }
  // Always inline: the compiler sees no effect in a call that only prefetches, and might remove it.
  [[gnu::always_inline]] void fetch(NodeIndex hint) const {
    if (hint != NodeHints::kNone) store_.prefetch(hint);
  }

  TreeStore& store_;
  std::vector<LevelFacts> facts_;
  std::vector<Step<NodeView>> steps_, last_;
  std::vector<int> x_;
  int length_ = 0, last_length_ = 0;
  bool fetches_ahead_ = false;
};

}  // namespace treesample
