// Trees and stars, whose buckets are all small, against enumeration and against sums by hand.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "treesample/exact/elimination.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/space/order.hpp"

namespace treesample {
namespace {

// A tree with tables of one and two variables; entries differ by up to `wide` nats, and a share of them is impossible.
FactorGraph tree(Random& random, int num_variables, double wide, double zeros) {
  FactorGraph graph;
  for (int v = 0; v < num_variables; ++v) graph.add_variable(2 + static_cast<int>(random.below(3)));
  const auto add = [&](const std::vector<int>& scope) {
    std::size_t num_entries = 1;
    for (const int v : scope) num_entries *= static_cast<std::size_t>(graph.num_states(v));
    std::vector<double> values(num_entries);
    for (double& value : values) value = random.uniform() < zeros ? kNegInf : wide * (random.uniform() - 0.5);
    graph.add_table(scope, values);
  };
  for (int v = 0; v < num_variables; ++v) {
    if (v > 0 && random.below(8) > 0) {
      const int u = static_cast<int>(random.below(static_cast<std::uint64_t>(v)));
      add(random.below(2) == 0 ? std::vector<int>{u, v} : std::vector<int>{v, u});
    }
    if (random.below(2) == 0) add({v});
  }
  return graph;
}

TEST(SmallBucket, TreesEqualEnumeration) {
  int num_impossible = 0;
  for (int trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "trees");
    const double wides[] = {2.0, 60.0, 900.0, 1e4};
    const FactorGraph graph = tree(random, 2 + trial % 7, wides[trial % 4], trial % 3 == 0 ? 0.3 : 0.0);
    const Enumeration truth = enumerate(graph);
    const Elimination elimination(graph, {}, {.goal = EliminationGoal::kMarginals});
    const Elimination alone(graph, {}, {.goal = EliminationGoal::kLogZ});
    EXPECT_EQ(elimination.log_z(), alone.log_z());
    if (truth.log_z == kNegInf) {
      ++num_impossible;
      EXPECT_EQ(elimination.log_z(), kNegInf);
      continue;
    }
    const double rounding = 1e-12 * (1.0 + std::abs(truth.log_z));  // of the enumeration
    EXPECT_LE(elimination.bounds().lower, truth.log_z + rounding);
    EXPECT_GE(elimination.bounds().upper, truth.log_z - rounding);
    EXPECT_LE(elimination.bounds().width(), 1e-8);
    const Marginals found = elimination.marginals();
    for (std::size_t v = 0; v < found.size(); ++v) {
      for (std::size_t s = 0; s < found[v].size(); ++s) EXPECT_NEAR(found[v][s], truth.marginals[v][s], 1e-9);
    }
    const Assignment x = elimination.sample(random);
    EXPECT_NEAR(elimination.log_prob(x), truth.log_probs[configuration_index(graph, x)], 1e-8);
  }
  EXPECT_GT(num_impossible, 3);
}

// The product of the messages of all leaves is about e^-20000 in one state of the hub, and e^-23000 in the other.
TEST(SmallBucket, AStarIsExactWhereProductsUnderflow) {
  constexpr int kLeaves = 20'000;
  Random random(1, "star");
  FactorGraph graph;
  graph.add_variable(2);
  std::vector<long double> log_sums = {0.0L, 0.0L};
  for (int leaf = 1; leaf <= kLeaves; ++leaf) {
    graph.add_variable(2);
    // Columns of 0 to the hub's state 1, so that it loses against state 0 by a few nats only in the end.
    std::vector<double> values = {0.0, -2.0 - random.uniform(), -0.1 * random.uniform(), -3.0};
    for (int hub = 0; hub < 2; ++hub) {
      log_sums[hub] += std::log(std::exp(static_cast<long double>(values[2 * hub])) +
                                std::exp(static_cast<long double>(values[2 * hub + 1])));
    }
    graph.add_table({0, leaf}, values);
  }
  const long double balance = log_sums[0] - log_sums[1] - 1.0L;  // the hub is in state 0 with odds e : 1
  graph.add_table({0}, {-static_cast<double>(balance), 0.0});
  log_sums[0] -= static_cast<long double>(static_cast<double>(balance));
  const long double log_z = log_sums[1] + std::log1p(std::exp(log_sums[0] - log_sums[1]));
  const Elimination elimination(graph, {}, {.goal = EliminationGoal::kMarginals});
  EXPECT_LE(elimination.bounds().lower, log_z);
  EXPECT_GE(elimination.bounds().upper, log_z);
  EXPECT_LE(elimination.bounds().width(), 1e-8);
  const double of_hub = static_cast<double>(1.0L / (1.0L + std::exp(log_sums[1] - log_sums[0])));
  EXPECT_NEAR(elimination.marginals()[0][0], of_hub, 1e-9);
  int num_first = 0;
  for (int i = 0; i < 50; ++i) num_first += elimination.sample(random)[0] == 0 ? 1 : 0;
  EXPECT_GT(num_first, 15);  // 37 expected; a binomial is this small with probability 1e-11
  EXPECT_LT(num_first, 50);  // (or 1.5e-7)
}

// A hub whose list of neighbours is cleaned up late, beside a copy of the graph where nothing is large.
TEST(SmallBucket, OrdersOfAHubAreThoseOfMinFill) {
  constexpr int kLeaves = 3000;
  Adjacency adjacency(kLeaves + 3);
  const auto join = [&](int u, int v) {
    adjacency[u].push_back(v);
    adjacency[v].push_back(u);
  };
  for (int v = 1; v < kLeaves + 3; ++v) join(0, v);
  for (int v = 1; v + 1 < kLeaves / 2; v += 2) join(v, v + 1);  // triangles
  for (int v = kLeaves; v < kLeaves + 2; ++v) join(v, v + 1);
  for (std::vector<int>& list : adjacency) std::sort(list.begin(), list.end());
  for (const OrderKind kind : {OrderKind::kMinFill, OrderKind::kMinWidth}) {
    Random ties(7, "hub");
    std::vector<std::size_t> widths;
    const std::vector<int> order =
        elimination_order(adjacency, kind, ties, {.goes_on = [&](int v, std::span<const int> neighbours) {
                            widths.push_back(neighbours.size());
                            return v >= 0;
                          }});
    const auto separator_of = separators(adjacency, order);
    ASSERT_EQ(order.size(), adjacency.size());
    for (std::size_t t = 0; t < order.size(); ++t) {
      ASSERT_EQ(widths[t], separator_of[order[t]].size()) << t;
      ASSERT_LE(widths[t], 2u) << t;
    }
  }
}

}  // namespace
}  // namespace treesample
