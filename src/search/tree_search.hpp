// The state of a search by Algorithm 2, which tree_sample.cpp has from top to bottom.
#pragma once

#include <climits>
#include <memory>
#include <span>
#include <vector>

#include "search/node_store.hpp"
#include "search/search_path.hpp"
#include "search/selection.hpp"
#include "search/soft_bellman.hpp"
#include "space/reward_tables.hpp"
#include "space/run_watch.hpp"
#include "treesample/search/tree_sample.hpp"
#include "treesample/space/reward.hpp"

namespace treesample {

class TreeSearch {
 public:
  TreeSearch(const FactorGraph& graph, const std::shared_ptr<const SearchSpace>& space,
             std::shared_ptr<const ValueFunction> prior, const Limits& limits, const SearchOptions& options,
             const Observer& observer);
  SearchReport tree_sample();
  [[nodiscard]] std::shared_ptr<NodeStore> store() const { return store_; }

 private:
  enum class Outcome { kProgress, kSolved, kBudgetSpent, kFailed };

  // What the traversal needs to know about a level, close together.
  struct LevelFacts {
    const int* children = nullptr;
    int num_children = 0;
    int variable = 0;
    bool has_shared_children = false;
    bool has_stamps = false;
    // 1 when two edges of a node can lead to one child: a backup by one leaves the other stale.
    std::uint32_t lag = 0;
    RewardTable rewards;

    [[nodiscard]] std::span<const int> children_span() const {
      return {children, static_cast<std::size_t>(num_children)};
    }
  };

  template <class Shape>
  Outcome tree_traversal();
  void specialise();
  [[nodiscard]] bool is_solved() const { return is_complete(*store_, space_.roots, store_->root_links().data()); }
  Node visit(int level, NodeIndex& link);
  void refresh(int level, Node node);
  // Always inline: a call that only fetches ahead has no effect that the compiler sees, and may be left out.
  [[gnu::always_inline]] void fetch_ahead(int level, NodeIndex hint) const {
    if (hint != NodeHints::kNone) store_->prefetch(level, hint);
  }
  bool expand(Step& step);
  NodeIndex create_node(int level);
  template <class Shape>
  [[gnu::noinline]] void backup();
  double repair(std::size_t i);
  void initialise(int level, const Node& node);

  const FactorGraph& graph_;
  const SearchSpace& space_;
  Limits limits_;
  SearchOptions options_;
  RunWatch watch_;
  std::shared_ptr<const ValueFunction> prior_;
  Reward reward_;
  RewardTables reward_tables_;
  std::shared_ptr<NodeStore> store_;
  Budget budget_;
  Selection selection_;
  int fewest_factors_ = INT_MAX;  // of any reward
  int check_interval_;            // traversals between looks at the clock; a function may take seconds
  Assignment x_;                  // by variable; -1 off the current path, if there is a prior to see it
  std::vector<LevelFacts> facts_;
  std::vector<double> function_magnitudes_;  // by level: the largest Reward::magnitude()
  std::uint32_t now_ = 1;                    // counts traversals, for the time stamps of nodes
  SearchPath path_;
  SearchPath last_path_;  // of the traversal before
  bool fetches_ahead_ = false;
  Outcome (TreeSearch::*tree_traversal_)() = nullptr;  // for the shape of all nodes
};

}  // namespace treesample
