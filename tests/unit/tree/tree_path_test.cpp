#include "tree/tree_path.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "treesample/math/random.hpp"

namespace treesample {
namespace {

using Binary = SizedNode<2>;
using Path = TreePath<Binary>;

// A line of nodes down to the first level with hints, then all nodes of some more levels.
class FullTree {
 public:
  static constexpr int kFirst = Path::kFirstLevelWithHints;
  static constexpr int kDepth = 9;

  FullTree() {
    std::vector<int> order;
    for (int v = 0; v < kFirst + kDepth; ++v) order.push_back(graph_.add_variable(2));
    space_ = make_search_space(graph_, order, SpaceKind::kTree);
    store_ = std::make_unique<TreeStore>(std::make_shared<const SearchSpace>(space_), false);
    std::vector<NodeIndex> level = {store_->root() = store_->create(0)};
    for (int n = 0; n + 1 < kFirst + kDepth; ++n) {
      std::vector<NodeIndex> next;
      for (const NodeIndex index : level) {
        for (int a = 0; a < (n < kFirst ? 1 : 2); ++a) {
          next.push_back(store_->create(n + 1));
          store_->node(n, index).link(a) = next.back();
        }
      }
      level = next;
    }
  }
  [[nodiscard]] const FactorGraph& graph() const { return graph_; }
  [[nodiscard]] const SearchSpace& space() const { return space_; }
  [[nodiscard]] TreeStore& store() { return *store_; }
  [[nodiscard]] Binary node(int level, NodeIndex index) { return store_->node<Binary>(level, index); }

 private:
  FactorGraph graph_;
  SearchSpace space_;
  std::unique_ptr<TreeStore> store_;
};

// After each traversal the hints of an edge name the nodes that the next one through it comes to.
TEST(TreePath, HintsFollowTheChoices) {
  FullTree tree;
  Reward reward(tree.graph(), tree.space());
  const RewardTables tables(tree.graph(), tree.space(), reward, 0);
  Path path(tree.store(), tables);
  Random random(1);
  int num_right = 0, num_unknown = 0;
  for (int round = 0; round < 3000; ++round) {
    path.begin();
    path.leave_hints();  // of the round before
    NodeIndex index = tree.store().root();
    for (int n = 0; n < tree.space().num_levels() && !tree.node(n, index).is_complete(); ++n) {
      const auto action = static_cast<int>(tree.node(n, index).choice());
      path.follow(tree.node(n, index), action);
      EXPECT_EQ(path.x()[n], action);
      index = tree.node(n, index).link(action);
    }
    // What the hints on the way promise is what comes.
    const auto steps = path.steps();
    for (std::size_t i = FullTree::kFirst; i + NodeHints::kFarthest < steps.size(); ++i) {
      const NodeIndex hint = steps[i].node.hints(steps[i].action).farthest();
      if (hint == NodeHints::kNone) {
        ++num_unknown;
        continue;
      }
      const int level = static_cast<int>(i) + NodeHints::kFarthest;
      ASSERT_EQ(&tree.node(level, hint).unit(), &steps[i + NodeHints::kFarthest].node.unit()) << round;
      ++num_right;
    }
    // Choices that turn at random; a few nodes become complete.
    for (const auto& step : steps) {
      if (step.level < FullTree::kFirst) continue;
      const bool is_done = step.level > FullTree::kFirst + 2 && random.uniform() < 0.001;
      step.node.set_choice(is_done ? kNoChoice : static_cast<std::uint32_t>(random.below(2)));
    }
  }
  EXPECT_GT(num_right, 5000);
  EXPECT_LT(num_unknown, 2000);  // only where a node is met for the first time
}

}  // namespace
}  // namespace treesample
