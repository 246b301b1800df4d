#include "search/nodes_by_level.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "treesample/families/family.hpp"
#include "treesample/search/tree_sample.hpp"

namespace treesample {
namespace {

// Every node once, at its level, children found by their positions: where all levels share an array and where each has
// its own.
TEST(NodesByLevel, EveryNodeOnceAtItsLevel) {
  FamilyOptions options;
  options.values = {{"n", 9}, {"k", 2}};
  const FactorGraph chain = make_family("chain", options).graph;
  FactorGraph mixed;  // numbers of states that differ
  for (const int k : {2, 3, 2, 4}) mixed.add_variable(k);
  struct Case {
    const FactorGraph* graph;
    SpaceKind kind;
    bool is_one_array;
  };
  for (const auto& [graph, kind, is_one_array] :
       {Case{&chain, SpaceKind::kTree, true}, {&chain, SpaceKind::kGraph, false}, {&mixed, SpaceKind::kTree, false}}) {
    const SearchSpace space = make_search_space(*graph, search_order(*graph, kind, {.kind = OrderKind::kGiven}), kind);
    for (const std::int64_t budget : {1, 2, 40, 300}) {
      const SearchResult result = tree_sample(*graph, space, nullptr, {.budget = budget});
      const NodeStore& store = result.approximation.store();
      EXPECT_EQ(store.is_one_array(), is_one_array);
      const NodesByLevel nodes(store);
      std::uint64_t num_nodes = 0;
      std::set<std::pair<int, NodeIndex>> reached = {{0, store.root_links()[0]}};
      for (int n = 0; n < space.num_levels(); ++n) {
        for (std::uint32_t i = 0; i < nodes.size(n); ++i) {
          EXPECT_EQ(nodes.position(nodes.index(n, i)), i);
          EXPECT_EQ(reached.count({n, nodes.index(n, i)}), 1U) << "level " << n << " position " << i;
          const Node node = nodes.node(n, i);
          EXPECT_EQ(node.num_states(), space.levels[n].num_states);
          for (int a = 0; a < node.num_states() && n + 1 < space.num_levels(); ++a) {
            if (*node.links(a) != kNoNode) reached.insert({n + 1, *node.links(a)});
          }
        }
        num_nodes += nodes.size(n);
      }
      EXPECT_EQ(num_nodes, reached.size());
      EXPECT_EQ(num_nodes, store.num_nodes());
    }
  }
}

TEST(NodesByLevel, AnEmptyStoreHasNone) {
  FamilyOptions options;
  options.values = {{"n", 3}, {"k", 2}};
  const FactorGraph graph = make_family("chain", options).graph;
  const std::vector<int> order = {0, 1, 2};
  const NodeStore store(std::make_shared<const SearchSpace>(make_search_space(graph, order, SpaceKind::kTree)), false);
  const NodesByLevel nodes(store);
  for (int n = 0; n < 3; ++n) EXPECT_EQ(nodes.size(n), 0U);
}

}  // namespace
}  // namespace treesample
