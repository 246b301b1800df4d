#include "tree/tree_store.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "math/reward_factor.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {
namespace {

TreeStore chain_store(int num_variables, int num_states) {
  FactorGraph graph;
  std::vector<int> order;
  for (int v = 0; v < num_variables; ++v) order.push_back(graph.add_variable(num_states));
  return {std::make_shared<const SearchSpace>(make_search_space(graph, order, SpaceKind::kTree)), false};
}

TEST(TreeStore, ChoiceHoldsAnyActionOrNone) {
  TreeStore store = chain_store(1, 300);
  const Node node = store.node(0, store.create(0));
  for (const std::uint32_t action : {0U, 253U, 254U, 255U, 256U, 299U, kNoChoice, 7U}) {
    node.set_choice(action);
    EXPECT_EQ(node.choice(), action);
    EXPECT_EQ(node.is_complete(), action == kNoChoice);
  }
}

TEST(TreeStore, NodeIsCompleteWithItsLastEdge) {
  TreeStore store = chain_store(1, 3);
  const Node node = store.node(0, store.create(0));
  for (const int action : {1, 0, 0, 2}) {
    EXPECT_FALSE(node.is_complete());
    node.set_complete(action);
  }
  EXPECT_TRUE(node.is_complete());
}

TEST(TreeStore, HintsOfBothEdges) {
  TreeStore store = chain_store(4, 2);
  const auto node = store.node<SizedNode<2>>(0, store.create(0));
  for (const int action : {0, 1}) EXPECT_EQ(node.hints(action).farthest(), NodeHints::kNone);
  node.link(0) = 11;
  node.link(1) = 12;
  node.unit() = -7;
  node.set_hints(0, NodeHints().behind(5).behind(4).behind(3).behind(2));
  node.set_hints(1, NodeHints().behind(67'108'862).behind(0).behind(kNoNode).behind(67'108'864));
  node.set_choice(1);
  EXPECT_EQ(node.hints(0).farthest(), 5U);
  EXPECT_EQ(node.hints(0).behind(1).farthest(), 4U);
  EXPECT_EQ(node.hints(0).behind(1).behind(0).farthest(), 3U);
  EXPECT_EQ(node.hints(1).farthest(), 67'108'862U);
  EXPECT_EQ(node.hints(1).behind(0).farthest(), 0U);
  EXPECT_EQ(node.hints(1).behind(0).behind(0).farthest(), NodeHints::kNone);
  EXPECT_EQ(node.hints(1).behind(0).behind(0).behind(0).farthest(), NodeHints::kNone);  // too large for the bits
  EXPECT_EQ(node.choice(), 1U);
  EXPECT_EQ(node.unit(), -7);
  EXPECT_EQ(node.link(0), 11U);
  EXPECT_EQ(node.link(1), 12U);
}

// With logarithms kept and, in a store of binary variables, without.
TEST(TreeStore, WeightsOfAnySize) {
  for (const int num_states : {2, 3}) {
    TreeStore store = chain_store(2, num_states);
    const Node node = store.node(0, store.create(0));
    EXPECT_EQ(node.has_logs(), num_states > 2);
    for (const double log : {0.0, 3.5, -400.0, -461.0, -700.0, -5000.0, -1e300}) {
      node.set_weight(1, std::exp(log), log);
      EXPECT_NEAR(node.log_weight(1), log, 1e-13) << log;
      EXPECT_NEAR(node.weight(1), std::exp(log), kLeastWeight + 1e-14 * std::exp(log)) << log;
      EXPECT_FALSE(node.is_impossible(1));
    }
    node.set_weight(1, 0.0, kNegInf);
    EXPECT_EQ(node.log_weight(1), kNegInf);
    EXPECT_EQ(node.weight(1), 0.0);
    EXPECT_TRUE(node.is_impossible(1));
    for (int a = 0; a < num_states; ++a) node.set_weight(a, a + 1.0, std::log(a + 1.0));
    EXPECT_EQ(node.sum(), num_states * (num_states + 1) / 2.0);
  }
}

// The offsets that the compiler knows are those of the store.
template <int kStates>
void expect_known_shape() {
  TreeStore store = chain_store(3, kStates);
  for (int level = 0; level < 3; ++level) {
    const NodeIndex index = store.create(level);
    const Node node = store.node(level, index);
    const auto known = store.node<SizedNode<kStates>>(level, index);
    EXPECT_EQ(known.num_states(), node.num_states());
    EXPECT_EQ(known.has_logs(), node.has_logs());
    EXPECT_EQ(&known.link(1), &node.link(1));
    EXPECT_EQ(known.edges(), node.edges());
    EXPECT_EQ(known.stored_weights(), node.stored_weights());
    EXPECT_EQ(known.stored_logs(), node.stored_logs());
    EXPECT_EQ(known.factors(), node.factors());
  }
}
TEST(TreeStore, KnownShapeIsTheOwnShape) {
  expect_known_shape<2>();
  expect_known_shape<3>();
  expect_known_shape<4>();
  expect_known_shape<5>();
}

// Blocks of several sizes lie one after the other; the views of a traversal stay valid.
TEST(TreeStore, NodesOfDifferentSizesKeepTheirNumbers) {
  FactorGraph graph;
  std::vector<int> order;
  for (const int k : {2, 5, 3, 9, 1}) order.push_back(graph.add_variable(k));
  TreeStore store(std::make_shared<const SearchSpace>(make_search_space(graph, order, SpaceKind::kTree)), true);
  EXPECT_EQ(store.common_num_states(), 0);
  std::vector<std::pair<int, NodeIndex>> nodes;
  for (int i = 0; i < 2000; ++i) {
    store.make_room();
    const int level = i % 5;
    nodes.emplace_back(level, store.create(level));
    const Node first = store.node(level, nodes.back().second);
    nodes.emplace_back((level + 1) % 5, store.create((level + 1) % 5));
    for (int a = 0; a < first.num_states(); ++a) {
      EXPECT_EQ(first.link(a), kNoNode);
      first.set_weight(a, i + a + 1.0, std::log(i + a + 1.0));
      first.q_phi()[a] = -i;
    }
  }
  EXPECT_EQ(store.num_nodes(), 4000U);
  EXPECT_LE(store.used_bytes(), store.held_bytes());
  for (int i = 0; i < 2000; ++i) {
    const Node node = store.node(nodes[2 * i].first, nodes[2 * i].second);
    for (int a = 0; a < node.num_states(); ++a) {
      ASSERT_EQ(node.weight(a), i + a + 1.0);
      ASSERT_EQ(node.q_phi()[a], -i);
    }
  }
}

TEST(TreeStore, FactorKeepsRewardsOfAnySize) {
  for (const double reward : {0.0, 1e-3, -2.5, 300.0, -690.0, 690.0, -691.0, 691.0, -1e30, 1e30}) {
    EXPECT_NEAR(reward_of_factor(factor_of_reward(reward)), reward, 4e-16 * (1.0 + std::abs(reward))) << reward;
  }
  EXPECT_EQ(factor_of_reward(kNegInf), 0.0);
  EXPECT_EQ(reward_of_factor(0.0), kNegInf);
}

TEST(TreeNumber, ScalingIsExactOrRefused) {
  EXPECT_EQ(scale_by_units(3.0, 5, 5), 3.0);
  EXPECT_EQ(scale_by_units(0x1.8p-512, 1, -1), 1.5);
  EXPECT_EQ(scale_by_units(0x1.8p300, 0, 3), 0x1.8p-468);
  EXPECT_TRUE(std::isnan(scale_by_units(1.0, 4, 0)));
  EXPECT_TRUE(std::isnan(scale_by_units(1.0, INT32_MIN, INT32_MAX)));
  EXPECT_TRUE(std::isnan(scale_by_units(1e-190, 0, 1)));  // below 1e-200
  EXPECT_EQ(weight_in_unit(3.0, {0x1.0p-256, 1}, 0), 3.0);
  EXPECT_TRUE(std::isnan(weight_in_unit(-1000.0, {1.0, 0}, 0)));  // no number but a reward of -1000
  EXPECT_TRUE(std::isnan(weight_in_unit(0.0, {1.0, 0}, 0)));
  EXPECT_TRUE(std::isnan(weight_in_unit(1.0, {1e-150, 0}, 0)));
}

TEST(TreeNumber, HoldsLogarithmsOfAnySensibleSize) {
  for (const double log_value : {0.0, -1.5, 700.0, 1e6, -3e11}) {
    const std::int32_t unit = tree_unit_of(log_value);
    const double log = TreeNumber::log_in_unit(log_value, unit);
    EXPECT_LE(std::abs(log), 89.0);
    EXPECT_NEAR(TreeNumber::log_from_unit(log, unit), log_value, 4e-16 * (1.0 + std::abs(log_value)));
  }
  EXPECT_THROW(tree_unit_of(4e11), Error);
  EXPECT_EQ(std::exp(TreeNumber::log_in_unit(-1e30, tree_unit_of(-1e30))), 0.0);
}

}  // namespace
}  // namespace treesample
