#include "search/node_store.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "treesample/math/log_domain.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {
namespace {

NodeStore chain_store(int num_variables, int num_states) {
  FactorGraph graph;
  std::vector<int> order;
  for (int v = 0; v < num_variables; ++v) order.push_back(graph.add_variable(num_states));
  return {std::make_shared<const SearchSpace>(make_search_space(graph, order, SpaceKind::kTree)), false};
}

TEST(NodeStore, ChoiceHoldsAnyActionOrNone) {
  NodeStore store = chain_store(1, 300);
  const Node node = store.node(0, store.create(0));
  for (const std::uint32_t action : {0U, 253U, 254U, 255U, 256U, 299U, kNoChoice, 7U}) {
    node.set_choice(action);
    EXPECT_EQ(node.choice(), action);
    EXPECT_EQ(node.is_complete(), action == kNoChoice);
  }
}

TEST(NodeStore, NodeIsCompleteWithItsLastEdge) {
  NodeStore store = chain_store(1, 3);
  const Node node = store.node(0, store.create(0));
  for (const int action : {1, 0, 0, 2}) {
    EXPECT_FALSE(node.is_complete());
    node.set_complete(action);
  }
  EXPECT_TRUE(node.is_complete());
}

TEST(NodeStore, HintsAndChoiceShareAWord) {
  NodeStore store = chain_store(Node::kFirstLevelWithHints + 3, 2);
  const int level = Node::kFirstLevelWithHints;
  const Node node = store.node(level, store.create(level));
  ASSERT_TRUE(node.has_hints());
  EXPECT_EQ(node.hint(0), Node::kNoHint);
  node.set_hint(0, 123'456'789);
  node.set_hint(1, 5);
  node.set_choice(1);
  EXPECT_EQ(node.hint(0), 123'456'789U);
  EXPECT_EQ(node.hint(1), 5U);
  EXPECT_EQ(node.choice(), 1U);
  node.set_hint(0, kNoNode);
  node.set_choice(kNoChoice);
  EXPECT_EQ(node.hint(0), Node::kNoHint);
  EXPECT_EQ(node.hint(1), 5U);
  EXPECT_TRUE(node.is_complete());
}

TEST(NodeStore, FactorKeepsRewardsOfAnySize) {
  for (const double reward : {0.0, 1e-3, -2.5, 300.0, -690.0, 690.0, -691.0, 691.0, -1e30, 1e30}) {
    EXPECT_NEAR(reward_of_factor(factor_of_reward(reward)), reward, 4e-16 * (1.0 + std::abs(reward))) << reward;
  }
  EXPECT_EQ(factor_of_reward(kNegInf), 0.0);
  EXPECT_EQ(reward_of_factor(0.0), kNegInf);
}

TEST(ScaledValue, ScalingIsExactOrRefused) {
  EXPECT_EQ(scale_by_power(3.0, -4.0), 3.0 / 16.0);
  EXPECT_EQ(scale_by_power(0x1.8p-900, 1000.0), 0x1.8p100);
  EXPECT_TRUE(std::isnan(scale_by_power(1.0, 1001.0)));
  EXPECT_TRUE(std::isnan(scale_by_power(1.0, -1e300)));
  EXPECT_TRUE(std::isnan(scale_by_power(1e-190, -100.0)));  // below 1e-200
  EXPECT_TRUE(std::isnan(scale_by_power(-1000.0, 0.0)));    // no number but a reward of -1000
  EXPECT_TRUE(std::isnan(scale_by_power(0.0, 0.0)));
  for (const double log_value : {0.0, -1.5, 700.0, 1e6, -3e15}) {
    EXPECT_NEAR(ScaledValue::of_log(log_value).log(), log_value, 4e-16 * (1.0 + std::abs(log_value)));
  }
}

}  // namespace
}  // namespace treesample
