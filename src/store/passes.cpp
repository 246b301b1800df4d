#include "treesample/store/passes.hpp"

#include <algorithm>

#include "math/ties.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

NodesByLevel::NodesByLevel(const StoreView& view) : view_(&view) {
  if (!view.is_tree()) return;
  const int num_levels = view.space().num_levels();
  order_.resize(static_cast<std::size_t>(num_levels));
  if (num_levels == 0 || view.root(0) == kNoNode) return;
  positions_.resize(view.end_index(0));
  order_[0].push_back(view.root(0));
  NodeEdges edges;
  for (int n = 0; n + 1 < num_levels; ++n) {  // a path: level n + 1 is below
    for (const NodeIndex index : order_[n]) {
      view.read(n, index, StoreView::Read::kChildren, edges);
      for (const NodeIndex child : edges.children) {
        if (child == kNoNode) continue;
        positions_[child] = static_cast<std::uint32_t>(order_[n + 1].size());
        order_[n + 1].push_back(child);
      }
    }
  }
}

NodeContexts::NodeContexts(const SearchSpace& space, std::vector<std::vector<int>> contexts)
    : contexts_(std::move(contexts)), states_(contexts_.size()), sources_(contexts_.size()) {
  for (int n = 0; n < space.num_levels(); ++n) {
    const int parent = space.levels[n].parent;
    for (const int level : contexts_[n]) {
      const std::vector<int>& above = contexts_[parent];
      const auto found = std::lower_bound(above.begin(), above.end(), level);
      sources_[n].push_back(level == parent ? -1 : static_cast<int>(found - above.begin()));
    }
  }
}

// The soft-Bellman recursion with the maximum in place of the log-sum-exp, over evaluated edges.
std::optional<Configuration> best_in_store(const StoreView& view, const ShouldStop& should_stop) {
  struct Best {
    double value = kNegInf;
    int action = 0;
  };
  const SearchSpace& space = view.space();
  const NodesByLevel nodes(view);
  const auto best = pass_up<Best>(
      nodes, StoreView::Read::kRewards, Best{},
      [&](int level, const NodeEdges& edges, const auto& child) {
        Best here;
        for (int a = 0; a < space.levels[level].num_states; ++a) {
          double value = edges.rewards[a];
          for (std::size_t j = 0; j < space.levels[level].children.size() && value != kNegInf; ++j) {
            value += child(a, j).value;
          }
          if (is_higher(value, here.value)) here = {value, a};
        }
        return here;
      },
      "best configuration", should_stop);
  Configuration result{Assignment(space.levels.size(), 0), space.log_constant};
  std::vector<NodeIndex> at(space.levels.size(), kNoNode);  // by level: the node that the best configuration passes
  for (std::size_t r = 0; r < space.roots.size(); ++r) {
    const int root = space.roots[r];
    at[root] = view.root(r);
    result.log_density += at[root] == kNoNode ? kNegInf : best[root][nodes.position(at[root])].value;
  }
  if (result.log_density == kNegInf) return std::nullopt;
  NodeEdges edges;
  for (int n = 0; n < space.num_levels(); ++n) {
    const Level& level = space.levels[n];
    const int action = best[n][nodes.position(at[n])].action;
    result.x[level.variable] = action;
    view.read(n, at[n], StoreView::Read::kChildren, edges);
    for (std::size_t j = 0; j < level.children.size(); ++j) {
      at[level.children[j]] = edges.children[static_cast<std::size_t>(action) * level.children.size() + j];
    }
  }
  return result;
}

}  // namespace treesample
