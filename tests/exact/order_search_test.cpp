// The search for orders of elimination: annealing beside greedy orders.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/enumeration.hpp"

namespace treesample {
namespace {

// Each variable has three neighbours, drawn at random: no order is good by its looks.
FactorGraph three_regular(int num_variables, std::uint64_t seed) {
  Random random(seed);
  FactorGraph graph = testing::variables(num_variables, 2);
  for (int i = 0; i < 3; ++i) {
    const std::vector<int> matching = random.permutation(num_variables);
    for (int j = 0; j + 1 < num_variables; j += 2) {
      std::vector<double> table;
      for (int entry = 0; entry < 4; ++entry) table.push_back(random.normal());
      graph.add_table({matching[j], matching[j + 1]}, std::move(table));
    }
  }
  return graph;
}

bool is_order_of(const FactorGraph& graph, std::vector<int> order) {
  std::sort(order.begin(), order.end());
  std::vector<int> all(static_cast<std::size_t>(graph.num_variables()));
  std::iota(all.begin(), all.end(), 0);
  return order == all;
}

TEST(OrderSearch, AnnealingBeatsManyGreedyOrders) {
  const FactorGraph graph = three_regular(160, 1);
  const EliminationPlan greedy = plan_elimination(graph, {.restarts = 300});
  const EliminationPlan annealed = plan_elimination(graph, {.order_work = 1e8});
  EXPECT_TRUE(is_order_of(graph, annealed.order));
  EXPECT_LT(annealed.num_entries, 0.8 * greedy.num_entries);
}

TEST(OrderSearch, IsNeverWorseThanItsFirstGreedyOrders) {
  Random random(2);
  for (int trial = 0; trial < 30; ++trial) {
    const FactorGraph graph = testing::random_model(
        random, {.num_variables = 40, .min_states = 2, .max_states = 4, .num_factors = 70, .max_arity = 3});
    const EliminationPlan greedy = plan_elimination(graph, {.restarts = 10});
    const EliminationPlan found = plan_elimination(graph);
    EXPECT_TRUE(is_order_of(graph, found.order));
    EXPECT_LE(found.num_entries, 1.006 * greedy.num_entries);
  }
}

TEST(OrderSearch, TheOrderDependsOnOptionsAlone) {
  const FactorGraph graph = three_regular(90, 3);
  const EliminationPlan found = plan_elimination(graph, {.order_work = 3e7});
  for (const int num_threads : {1, 2, 5}) {
    EXPECT_EQ(plan_elimination(graph, {.order_work = 3e7, .threads = num_threads}).order, found.order);
  }
  EXPECT_NE(plan_elimination(graph, {.order_work = 3e7, .seed = 1}).order, found.order);
}

TEST(OrderSearch, MoreWorkGivesBetterOrdersAndNoneTheFirst) {
  const FactorGraph graph = three_regular(120, 4);
  const EliminationPlan first = plan_elimination(graph, {.restarts = 1});
  EXPECT_EQ(plan_elimination(graph, {.order_work = 0.0}).order, first.order);
  EXPECT_LT(plan_elimination(graph, {.order_work = 1e8}).num_entries, 0.5 * first.num_entries);
}

TEST(OrderSearch, EndsWhereTheLimitIsOutOfReach) {
  const FactorGraph graph = three_regular(160, 5);
  EXPECT_EQ(plan_elimination(graph, {.most_entries = 1e3}).num_entries, HUGE_VAL);
  // A limit that greedy orders do not reach, but annealed ones do.
  const double greedy = plan_elimination(graph, {.restarts = 10}).num_entries;
  const EliminationPlan found = plan_elimination(graph, {.most_entries = 0.7 * greedy});
  EXPECT_LE(found.num_entries, 0.7 * greedy);
}

TEST(OrderSearch, IsGivenUpWhenAskedTo) {
  const FactorGraph graph = three_regular(200, 6);
  int num_asked = 0;
  testing::expect_error(ErrorCode::kInterrupted,
                        [&] { plan_elimination(graph, {.order_work = 1e12}, [&] { return ++num_asked > 20; }); });
}

TEST(OrderSearch, AnnealedOrdersGiveTheSameLogZ) {
  const FactorGraph graph = three_regular(60, 7);
  const double expected = Elimination(graph, {}, {.restarts = 1}).log_z();
  const EliminationPlan found = plan_elimination(graph, {.order_work = 1e7});
  const Elimination annealed(graph, found);
  EXPECT_NEAR(annealed.log_z(), expected, 1e-9);
  EXPECT_LE(annealed.bounds().lower, expected);
  EXPECT_GE(annealed.bounds().upper, expected);
}

}  // namespace
}  // namespace treesample
