#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "tree/tree_store.hpp"
#include "treesample/families/family.hpp"
#include "treesample/search/q_uct_search.hpp"
#include "treesample/store/passes.hpp"

namespace treesample {
namespace {

// Every node once, at its level, children found by their positions: of both searches, whether or not variables have one
// number of states.
TEST(NodesByLevel, EveryNodeOnceAtItsLevel) {
  FamilyOptions options;
  options.values = {{"n", 9}, {"k", 2}};
  const FactorGraph chain = make_family("chain", options).graph;
  FactorGraph mixed;  // numbers of states that differ
  for (const int k : {2, 3, 2, 4}) mixed.add_variable(k);
  for (const auto& [graph, kind] :
       {std::pair{&chain, SpaceKind::kTree}, {&chain, SpaceKind::kGraph}, {&mixed, SpaceKind::kTree}}) {
    const SearchSpace space = make_search_space(*graph, search_order(*graph, kind, {.kind = OrderKind::kGiven}), kind);
    for (const std::int64_t budget : {1, 2, 40, 300}) {
      const QUctResult result = q_uct_search(*graph, space, {}, {.budget = budget});
      const StoreView& view = result.approximation->view();
      EXPECT_EQ(view.is_tree(), kind == SpaceKind::kTree);
      const NodesByLevel nodes(view);
      std::set<std::pair<int, NodeIndex>> reached, found;
      if (view.root(0) != kNoNode) reached.insert({0, view.root(0)});
      NodeEdges edges;
      for (int n = 0; n < space.num_levels(); ++n) {
        for (std::uint32_t i = 0; i < nodes.size(n); ++i) {
          if (!view.read(n, nodes.index(n, i), StoreView::Read::kAll, edges)) continue;
          EXPECT_EQ(nodes.position(nodes.index(n, i)), i);
          found.insert({n, nodes.index(n, i)});
          EXPECT_EQ(edges.weights.size(), static_cast<std::size_t>(space.levels[n].num_states));
          for (const NodeIndex child : edges.children) {
            if (child != kNoNode) reached.insert({n + 1, child});
          }
        }
      }
      EXPECT_EQ(found, reached);
      EXPECT_EQ(found.empty(), budget < 2 && kind == SpaceKind::kGraph);
      if (kind == SpaceKind::kTree) {
        EXPECT_EQ(found.size(), result.report.num_nodes);
      }
    }
  }
}

TEST(NodesByLevel, AnEmptyStoreHasNone) {
  FactorGraph graph;
  std::vector<int> order;
  for (int v = 0; v < 3; ++v) order.push_back(graph.add_variable(2));
  const auto space = std::make_shared<const SearchSpace>(make_search_space(graph, order, SpaceKind::kTree));
  const TreeApproximation approximation(std::make_shared<const TreeStore>(space, false),
                                        std::make_shared<UniformValue>(*space));
  const NodesByLevel nodes(approximation.view());
  for (int n = 0; n < 3; ++n) EXPECT_EQ(nodes.size(n), 0U);
}

}  // namespace
}  // namespace treesample
