#include "search/search_path.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace treesample {
namespace {

// After each traversal the hints of an edge name the nodes that the next one through it comes to.
TEST(SearchPath, HintsFollowTheChoices) {
  using Shape = NodeShape<2, true>;
  constexpr int kFirst = SearchPath::kFirstLevelWithHints;
  FactorGraph graph;
  std::vector<int> order;
  for (int v = 0; v < kFirst + 5; ++v) order.push_back(graph.add_variable(2));
  NodeStore store(std::make_shared<const SearchSpace>(make_search_space(graph, order, SpaceKind::kTree)), false);
  // All nodes of the last five levels below one, the children of node i being 2 i and 2 i + 1.
  for (int depth = 0; depth < 5; ++depth) {
    for (int i = 0; i < 1 << depth; ++i) store.create(kFirst + depth);
  }
  for (int depth = 0; depth < 4; ++depth) {
    for (NodeIndex i = 0; i < 1U << depth; ++i) {
      for (int a = 0; a < 2; ++a) *store.node(kFirst + depth, i).links(a) = 2 * i + a;
    }
  }
  const auto node = [&](int depth, NodeIndex i) { return store.node(kFirst + depth, i); };
  SearchPath path(graph.num_variables());
  const auto traverse = [&](std::vector<int> actions, std::vector<int> next) {
    NodeIndex i = 0;
    for (int depth = 0; depth < 5; ++depth) {
      path.first()[kFirst + depth] = {node(depth, i), kFirst + depth, actions[depth], 1.0};
      node(depth, i).set_choice(static_cast<std::uint32_t>(next[depth]));
      i = 2 * i + static_cast<NodeIndex>(actions[depth]);
    }
    path.set_length(kFirst + 5);
    path.leave_hints<Shape>();
  };
  // Along 0 0 0 0 0; then the node at depth 2 turns to 1.
  traverse({0, 0, 0, 0, 0}, {0, 0, 1, 0, 0});
  EXPECT_EQ(node(0, 0).hints(0).second, 0U);
  EXPECT_EQ(node(0, 0).hints(0).third, 1U);
  EXPECT_EQ(node(1, 0).hints(0).second, 1U);
  EXPECT_EQ(node(1, 0).hints(0).third, Node::kNoHint);  // nothing is known of the node behind the turn yet
  EXPECT_EQ(node(2, 0).hints(0).second, 0U);
  EXPECT_EQ(node(0, 0).hints(1).second, Node::kNoHint);
  // Along 0 0 1 1 0, which turns back at depth 2 to what the first traversal left behind.
  traverse({0, 0, 1, 1, 0}, {0, 0, 0, 1, 0});
  EXPECT_EQ(node(1, 0).hints(0).second, 0U);
  EXPECT_EQ(node(1, 0).hints(0).third, 0U);
  EXPECT_EQ(node(2, 0).hints(0).second, 0U);
  EXPECT_EQ(node(2, 0).hints(1).second, 3U);
  // A node that is complete leads nowhere.
  node(1, 0).set_choice(kNoChoice);
  path.leave_hints<Shape>();
  EXPECT_EQ(node(0, 0).hints(0).second, Node::kNoHint);
}

}  // namespace
}  // namespace treesample
