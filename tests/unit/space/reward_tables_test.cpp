#include "space/reward_tables.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/configurations.hpp"
#include "support/random_models.hpp"

namespace treesample {
namespace {

using testing::for_each_configuration;

TEST(RewardTables, HoldWhatTheRewardIs) {
  Random random(1);
  int num_tables = 0, num_missing = 0;
  for (int variant = 0; variant < 60; ++variant) {
    const FactorGraph graph = testing::random_model(random, {.num_variables = 5,
                                                             .num_factors = 7,
                                                             .zero_probability = variant % 2 == 0 ? 0.2 : 0.0,
                                                             .function_probability = variant % 3 == 0 ? 0.2 : 0.0});
    const SpaceKind kind = variant % 4 == 3 ? SpaceKind::kAndOr : SpaceKind::kTree;
    const SearchSpace space = make_search_space(graph, search_order(graph, kind, {}), kind);
    Reward reward(graph, space);
    const RewardTables tables(graph, space, reward, 1000);
    const std::vector<bool> are_missing = tables.are_missing();
    for (int n = 0; n < space.num_levels(); ++n) {
      ASSERT_EQ(are_missing[n], tables[n].factors == nullptr);
      ++(are_missing[n] ? num_missing : num_tables);
      if (are_missing[n]) continue;
      ASSERT_TRUE(reward.functions(n).empty());
      for_each_configuration(graph, [&](const Assignment& x) {
        Budget budget(INT64_MAX, BudgetUnit::kReward);
        const double expected = reward.evaluate(n, x, budget);
        const double found = std::log(tables[n].at(x[space.levels[n].variable], x.data()));
        ASSERT_TRUE(found == expected || std::abs(found - expected) < 1e-12);
      });
    }
  }
  EXPECT_GT(num_tables, 50);
  EXPECT_GT(num_missing, 10);
}

TEST(RewardTables, StayWithinTheirEntriesAndSensibleNumbers) {
  FactorGraph graph = testing::variables(3, 3);
  graph.add_table({0, 1}, std::vector<double>(9, 0.5));
  graph.add_table({1, 2}, std::vector<double>(9, -1e5));  // too small for a factor
  const SearchSpace space = make_search_space(graph, std::vector<int>{0, 1, 2}, SpaceKind::kTree);
  const Reward reward(graph, space);
  using Missing = std::vector<bool>;
  EXPECT_EQ(RewardTables(graph, space, reward, 100).are_missing(), (Missing{false, false, true}));
  EXPECT_EQ(RewardTables(graph, space, reward, 11).are_missing(), (Missing{false, true, true}));
  EXPECT_EQ(RewardTables(graph, space, reward, 0).are_missing(), (Missing{true, true, true}));
}

}  // namespace
}  // namespace treesample
