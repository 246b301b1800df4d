#include "search/search_path.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "treesample/math/random.hpp"

namespace treesample {
namespace {

// After each traversal the hints of an edge name the nodes that the next one through it comes to.
TEST(SearchPath, HintsFollowTheChoices) {
  using Shape = NodeShape<2, true>;
  constexpr int kFirst = SearchPath::kFirstLevelWithHints;
  constexpr int kDepth = 9;
  FactorGraph graph;
  std::vector<int> order;
  for (int v = 0; v < kFirst + kDepth; ++v) order.push_back(graph.add_variable(2));
  NodeStore store(std::make_shared<const SearchSpace>(make_search_space(graph, order, SpaceKind::kTree)), false);
  // All nodes of the last levels below one, level by level, the children of node i being 2 i + 1 and 2 i + 2.
  for (int depth = 0; depth < kDepth; ++depth) {
    for (NodeIndex i = 0; i < 1U << depth; ++i) store.create(kFirst + depth);
  }
  const auto node = [&](int depth, NodeIndex i) { return store.node(kFirst + depth, i).as<Shape>(); };
  const auto child = [](NodeIndex i, int action) { return 2 * i + 1 + static_cast<NodeIndex>(action); };
  for (int depth = 0; depth + 1 < kDepth; ++depth) {
    for (NodeIndex i = (1U << depth) - 1; i < (1U << (depth + 1)) - 1; ++i) {
      for (int a = 0; a < 2; ++a) *node(depth, i).links(a) = child(i, a);
    }
  }
  // Traversals by choices that turn at random; a few nodes become complete.
  SearchPath path(graph.num_variables());
  Random random(1);
  int num_right = 0, num_unknown = 0;
  for (int round = 0; round < 3000; ++round) {
    NodeIndex i = 0;
    int length = 0;
    while (length < kDepth && !node(length, i).is_complete()) {
      const auto action = static_cast<int>(node(length, i).choice());
      path.first()[kFirst + length] = {store.node(kFirst + length, i), kFirst + length, action, 1.0};
      i = child(i, action);
      ++length;
    }
    // What the hints on the way promise is what comes.
    for (int depth = 0; depth + NodeHints::kFarthest < length; ++depth) {
      const Step& step = path.first()[kFirst + depth];
      const NodeIndex hint = step.node.as<Shape>().hints(step.action).farthest();
      const Step& later = path.first()[kFirst + depth + NodeHints::kFarthest];
      if (hint == NodeHints::kNone) {
        ++num_unknown;
      } else {
        ASSERT_EQ(&node(depth + NodeHints::kFarthest, hint).unit(), &later.node.unit()) << round;
        ++num_right;
      }
    }
    for (int depth = 0; depth < length; ++depth) {
      const bool is_done = depth > 2 && random.uniform() < 0.001;
      path.first()[kFirst + depth].node.set_choice(is_done ? kNoChoice : static_cast<std::uint32_t>(random.below(2)));
    }
    path.set_length(kFirst + length);
    path.leave_hints<Shape>();
  }
  EXPECT_GT(num_right, 5000);
  EXPECT_LT(num_unknown, 2000);  // only where a node is met for the first time
}

}  // namespace
}  // namespace treesample
