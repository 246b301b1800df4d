// Paths that are known before the search begins (space/known_path.hpp). They are not part of the paper.
#include "tree/tree_search.hpp"
#include "tree/values.hpp"

namespace treesample {

// Like tree_traversal, but along given edges with given rewards.
template <class NodeView>
bool TreeSearch<NodeView>::insert_edge(const KnownPath& known) {
  path_.begin();
  NodeIndex* next = &store_.root();
  for (std::size_t level = 0; level < known.steps.size(); ++level) {
    const NodeView node = visit(static_cast<int>(level), *next);
    const int a = known.x[static_cast<std::size_t>(store_.space().levels[level].variable)];
    if (node.is_complete(a)) break;
    path_.follow(node, a);
    if (!node.is_expanded(a)) {
      Step<NodeView>& edge = path_.last();
      rewards_.set(edge, known.steps[level].reward, known.steps[level].magnitude);
      add_child(edge);
      backup(path_.end());
      return true;
    }
    next = &node.link(a);
  }
  path_.forget();
  return false;
}

void insert_known_paths(TreeSearchState& state, const KnownPaths& paths) {
  TreeSearch<Node> search(state);
  for (const KnownPath& known : paths) {
    while (!is_solved(*state.store) && search.insert_edge(known)) {
    }
  }
}

}  // namespace treesample
