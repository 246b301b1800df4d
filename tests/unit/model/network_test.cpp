#include "treesample/model/network.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_models.hpp"

namespace treesample {
namespace {

// a -> b
FactorGraph network(double last_row_sum = 1.0) {
  FactorGraph graph;
  graph.add_variable({.num_states = 2, .name = "a", .state_names = {"yes", "no"}});
  graph.add_variable({.num_states = 2, .name = "b", .state_names = {"yes", "no"}});
  graph.add_table({0}, {std::log(0.3), std::log(0.7)});
  graph.add_table({0, 1}, {std::log(0.1), std::log(0.9), std::log(0.5), std::log(last_row_sum - 0.5)});
  return graph;
}

TEST(Network, RowsThatAddUpToOneMakeANetwork) {
  EXPECT_TRUE(check_network(network()).is_network());
  EXPECT_TRUE(check_network(network(1.0 + 1e-7)).is_network());  // published networks are rounded
  EXPECT_TRUE(check_network(FactorGraph()).is_network());
}

TEST(Network, OtherRowsAreNamed) {
  const NetworkCheck check = check_network(network(0.99));
  EXPECT_TRUE(check.has_form);
  EXPECT_FALSE(check.is_network());
  ASSERT_EQ(check.warnings.size(), 1U);
  EXPECT_EQ(check.warnings[0], "the probabilities of b given a=no add up to 0.99, not to 1");
}

TEST(Network, CyclesAreNamed) {
  FactorGraph graph = network();
  FactorGraph cyclic;
  for (int v = 0; v < 4; ++v)
    cyclic.add_variable({.num_states = 2, .name = std::string(1, static_cast<char>('a' + v))});
  const std::vector<double> half(4, std::log(0.5));
  cyclic.add_table({2, 0}, half);  // c -> a -> b -> c, and b -> d
  cyclic.add_table({0, 1}, half);
  cyclic.add_table({1, 2}, half);
  cyclic.add_table({1, 3}, half);
  const NetworkCheck check = check_network(cyclic);
  ASSERT_EQ(check.warnings.size(), 1U);
  EXPECT_EQ(check.warnings[0], "the arrows form a cycle: a -> b -> c -> a; it is no Bayesian network");
}

TEST(Network, TablesWithoutAChildOfTheirOwnHaveNotTheForm) {
  FactorGraph graph = network();
  graph.add_table({0}, {0.0, 0.0});
  EXPECT_FALSE(check_network(graph).has_form);
  FactorGraph twice = testing::variables({2, 2});
  twice.add_table({0, 1}, std::vector<double>(4, std::log(0.5)));
  twice.add_table({0, 1}, std::vector<double>(4, std::log(0.5)));
  EXPECT_FALSE(check_network(twice).has_form);
}

TEST(Network, ManyWrongTablesAreCounted) {
  FactorGraph graph = testing::variables(9, 2);
  for (int v = 0; v < 9; ++v) graph.add_table({v}, {0.0, 0.0});
  const NetworkCheck check = check_network(graph);
  ASSERT_EQ(check.warnings.size(), 6U);
  EXPECT_EQ(check.warnings.back(), "and 4 more tables are so");
}

TEST(Network, ItsSumIsAtMostOneUpToRounding) {
  EXPECT_GE(network_log_upper(network()), 0.0);
  EXPECT_LT(network_log_upper(network()), 1e-14);
  EXPECT_NEAR(network_log_upper(network(1.0 + 1e-7)), 1e-7, 1e-13);
  EXPECT_EQ(network_log_upper(network(0.99)), HUGE_VAL);
}

}  // namespace
}  // namespace treesample
