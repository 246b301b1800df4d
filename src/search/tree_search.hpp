// The state of a search by Algorithm 2, which tree_sample.cpp has from top to bottom.
#pragma once

#include <climits>
#include <memory>
#include <span>
#include <vector>

#include "search/node_store.hpp"
#include "search/search_path.hpp"
#include "search/selection.hpp"
#include "treesample/model/reward.hpp"
#include "treesample/search/tree_sample.hpp"

namespace treesample {

class TreeSearch {
 public:
  TreeSearch(const FactorGraph& graph, const std::shared_ptr<const SearchSpace>& space, const SearchOptions& options,
             std::shared_ptr<const ValueFunction> prior);
  SearchReport tree_sample(const SearchObserver& observer);
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

    [[nodiscard]] std::span<const int> children_span() const {
      return {children, static_cast<std::size_t>(num_children)};
    }
  };

  [[gnu::noinline]] Outcome tree_traversal();
  [[nodiscard]] bool is_solved() const { return is_complete(*store_, space_.roots, store_->root_links().data()); }
  Node visit(int level, NodeIndex& link);
  // Always inline: a call that only fetches ahead has no effect that the compiler sees, and may be left out.
  [[gnu::always_inline]] void fetch_ahead(const LevelFacts& facts, NodeIndex hint) const {
    if (hint != Node::kNoHint) store_->prefetch(facts_[facts.children[0]].children[0], hint);
  }
  bool expand(const Step& step);
  NodeIndex create_node(int level);
  template <class NumStates>
  [[gnu::noinline]] void backup(NumStates common_num_states);
  double repair(std::size_t i);
  void initialise(int level, const Node& node);

  const SearchSpace& space_;
  SearchOptions options_;
  std::shared_ptr<const ValueFunction> prior_;
  std::shared_ptr<NodeStore> store_;
  Reward reward_;
  Budget budget_;
  Selection selection_;
  int fewest_factors_ = INT_MAX;  // of any reward
  int check_interval_;            // traversals between looks at the clock; a function may take seconds
  Assignment x_;                  // by variable; -1 off the current path, if there is a prior to see it
  std::vector<LevelFacts> facts_;
  std::uint32_t now_ = 1;  // counts traversals, for the time stamps of nodes
  SearchPath path_;
  bool fetches_ahead_ = false;
  int common_num_states_ = 0;  // of all levels, 0 if they differ
};

}  // namespace treesample
