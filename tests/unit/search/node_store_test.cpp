#include "search/node_store.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "treesample/error.hpp"
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

TEST(NodeStore, HintsAndChoiceShareWords) {
  NodeStore store = chain_store(4, 2);
  const Node node = store.node(0, store.create(0));
  const auto expect = [&](int action, NodeIndex second, NodeIndex third) {
    EXPECT_EQ(node.hints(action).second, second);
    EXPECT_EQ(node.hints(action).third, third);
  };
  for (const int action : {0, 1}) expect(action, Node::kNoHint, Node::kNoHint);
  const std::vector<NodeIndex> links(node.links(0), node.links(0) + 2);
  node.unit() = -7;
  node.set_hints(0, {123'456, 4'194'302});
  node.set_hints(1, {5, 0});
  node.set_choice(1);
  expect(0, 123'456, 4'194'302);
  expect(1, 5, 0);
  EXPECT_EQ(node.choice(), 1U);
  node.set_hints(0, {kNoNode, 4'194'304});  // too large for the bits
  node.set_choice(kNoChoice);
  expect(0, Node::kNoHint, Node::kNoHint);
  expect(1, 5, 0);
  EXPECT_TRUE(node.is_complete());
  EXPECT_EQ(node.unit(), -7);
  EXPECT_EQ(std::vector<NodeIndex>(node.links(0), node.links(0) + 2), links);
}

// The offsets that the compiler knows are those of the store.
TEST(NodeStore, KnownShapeIsTheOwnShape) {
  NodeStore store = chain_store(3, 4);
  for (int level = 0; level < 3; ++level) {
    const Node node = store.node(level, store.create(level));
    const auto known = node.as<NodeShape<4, true>>();
    EXPECT_EQ(known.num_states(), node.num_states());
    EXPECT_EQ(known.links(3), node.links(3));
    EXPECT_EQ(known.edges(), node.edges());
    EXPECT_EQ(known.weights(), node.weights());
    EXPECT_EQ(known.log_weights(), node.log_weights());
    EXPECT_EQ(known.factors(), node.factors());
  }
}

TEST(NodeStore, FactorKeepsRewardsOfAnySize) {
  for (const double reward : {0.0, 1e-3, -2.5, 300.0, -690.0, 690.0, -691.0, 691.0, -1e30, 1e30}) {
    EXPECT_NEAR(reward_of_factor(factor_of_reward(reward)), reward, 4e-16 * (1.0 + std::abs(reward))) << reward;
  }
  EXPECT_EQ(factor_of_reward(kNegInf), 0.0);
  EXPECT_EQ(reward_of_factor(0.0), kNegInf);
}

TEST(ScaledValue, ScalingIsExactOrRefused) {
  EXPECT_EQ(scale_by_units(3.0, 0), 3.0);
  EXPECT_EQ(scale_by_units(0x1.8p-512, 2), 1.5);
  EXPECT_EQ(scale_by_units(0x1.8p300, -3), 0x1.8p-468);
  EXPECT_TRUE(std::isnan(scale_by_units(1.0, 4)));
  EXPECT_TRUE(std::isnan(scale_by_units(1.0, INT64_MIN)));
  EXPECT_TRUE(std::isnan(scale_by_units(1e-190, -1)));  // below 1e-200
  EXPECT_EQ((ScaledValue{1, 0x1.0p-256}.times(3.0)), 3.0);
  EXPECT_TRUE(std::isnan(ScaledValue().times(-1000.0)));  // no number but a reward of -1000
  EXPECT_TRUE(std::isnan(ScaledValue().times(0.0)));
  EXPECT_TRUE(std::isnan((ScaledValue{0, 1e-150}.times(1.0))));
}

TEST(ScaledValue, HoldsLogarithmsOfAnySensibleSize) {
  for (const double log_value : {0.0, -1.5, 700.0, 1e6, -3e11}) {
    EXPECT_NEAR(ScaledValue::of_log(log_value).log(), log_value, 4e-16 * (1.0 + std::abs(log_value)));
  }
  EXPECT_THROW(ScaledValue::of_log(4e11), Error);
  EXPECT_EQ(ScaledValue::of_log(-1e30).sum, 0.0);
}

}  // namespace
}  // namespace treesample
