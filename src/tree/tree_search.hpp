// The state that Algorithm 2 (tree_sample.cpp) works on. The call and its report are in tree_search.cpp. These files
// make the search fast: node.hpp and tree_store.hpp (the layout of nodes in memory), tree_path.hpp (prefetching along a
// path) and choices.hpp (Q-UCT for a whole path at once).
#pragma once

#include <memory>
#include <span>

#include "tree/choices.hpp"
#include "tree/edge_rewards.hpp"
#include "tree/new_nodes.hpp"
#include "tree/tree_path.hpp"
#include "tree/tree_store.hpp"
#include "tree/tree_watch.hpp"
#include "treesample/tree/tree_sample.hpp"

namespace treesample {

// The parts of a search that do not depend on the type of its nodes.
struct TreeSearchState {
  explicit TreeSearchState(const TreeSearchCall& call);

  std::shared_ptr<const SearchSpace> space;
  std::shared_ptr<const LeafValue> q_phi;
  EdgeRewards rewards;
  std::shared_ptr<TreeStore> store;
  Choices choices;
  NewNodes new_nodes;
  TreeWatch watch;
};

// NodeView is the type of a node; it may tell the compiler the number of states (with_num_states, node.hpp).
template <class NodeView>
class TreeSearch {
 public:
  // Keeps references to the parts of the state.
  explicit TreeSearch(TreeSearchState& state)
      : store_(*state.store),
        rewards_(state.rewards),
        new_nodes_(state.new_nodes),
        choices_(state.choices),
        watch_(state.watch),
        path_(*state.store, state.rewards.tables()) {}

  StopReason tree_sample();

  // Beyond Algorithm 2 (known_paths.cpp): adds the first edge of the path that is not in the tree yet, at no cost.
  // Returns false if all of them are in the tree.
  bool insert_edge(const KnownPath& known);

 private:
  inline bool tree_traversal();
  int q_uct(const NodeView& node) const;
  inline bool expand(Step<NodeView>& edge);
  void add_child(const Step<NodeView>& edge);
  [[gnu::noinline]] void backup(std::span<const Step<NodeView>> path);
  // Not inline, so that the loop of backup stays in registers.
  [[gnu::noinline]] double repair(std::size_t i, const Step<NodeView>& edge);

  // The node that a link of the path leads to; it may not be stored yet (tree_store.hpp).
  NodeView visit(int level, NodeIndex& link) {
    if (link == kNoNode) link = new_nodes_.create(level, path_.x());
    return store_.node<NodeView>(level, link);
  }
  // False if R = -inf, and at the last level.
  [[nodiscard]] bool has_child(const Step<NodeView>& edge) const {
    return edge.factor != 0.0 && edge.level + 1 < store_.space().num_levels();
  }

  TreeStore& store_;
  EdgeRewards& rewards_;
  NewNodes& new_nodes_;
  Choices& choices_;
  TreeWatch& watch_;
  TreePath<NodeView> path_;
};

// Puts the edges of these paths into the tree.
void insert_known_paths(TreeSearchState& state, const KnownPaths& paths);

}  // namespace treesample
