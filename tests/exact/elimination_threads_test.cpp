// Elimination by several threads: log Z and all marginals have the same bits for any number of them.
#include <gtest/gtest.h>

#include "support/equal_marginals.hpp"
#include "support/random_models.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

void add_random_table(FactorGraph& graph, std::vector<int> scope, Random& random) {
  std::size_t size = 1;
  for (const int v : scope) size *= static_cast<std::size_t>(graph.num_states(v));
  std::vector<double> values(size);
  for (double& value : values) value = random.normal();
  graph.add_table(std::move(scope), std::move(values));
}

void expect_same_bits(const FactorGraph& graph, const std::vector<int>& order) {
  const EliminationPlan plan = plan_in_order(graph, order);
  const Elimination one(graph, plan, {.threads = 1});
  for (const int threads : {2, 3, 16}) {
    const Elimination several(graph, plan, {.threads = threads});
    EXPECT_EQ(several.log_z(), one.log_z());
    EXPECT_EQ(several.marginals(), one.marginals()) << threads << " threads";
  }
}

TEST(EliminationThreads, SameBitsWhereBucketsHaveManyBlocks) {
  Random random(1);
  FactorGraph graph = testing::variables(18, 2);
  for (int v = 0; v + 9 < 18; ++v) {
    for (int u = v; u < v + 9; ++u) add_random_table(graph, {v, u + 1}, random);
  }
  add_random_table(graph, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, random);
  const std::vector<int> order = testing::integers(18);
  expect_same_bits(graph, order);
  testing::expect_equal_marginals(Elimination(graph, {.threads = 4}).marginals(), enumerate(graph).marginals, 1e-9);
}

// The bucket of x has two children that have only x in common: one pass has too few parts for all threads.
TEST(EliminationThreads, SameBitsWhereChildrenHaveLittleInCommon) {
  Random random(2);
  FactorGraph graph;
  const int x = graph.add_variable(2);
  std::vector<int> order = {x};
  for (int branch = 0; branch < 2; ++branch) {
    const int first = graph.add_variable(12), second = graph.add_variable(12), removed = graph.add_variable(2);
    add_random_table(graph, {x, first, second, removed}, random);
    order.insert(order.begin(), removed);
    order.insert(order.end(), {first, second});
  }
  expect_same_bits(graph, order);
  const Elimination several(graph, plan_in_order(graph, order), {.threads = 4});
  const Enumeration truth = enumerate(graph);
  EXPECT_NEAR(several.log_z(), truth.log_z, 1e-10);
  testing::expect_equal_marginals(several.marginals(), truth.marginals, 1e-10);
}

}  // namespace
}  // namespace treesample
