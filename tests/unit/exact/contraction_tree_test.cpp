#include "exact/contraction_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/expect_error.hpp"
#include "treesample/space/order.hpp"

namespace treesample {
namespace {

using Scopes = std::vector<std::vector<int>>;

// A square grid of variables with `side` in a row and two states each.
Scopes grid(int side) {
  Scopes scopes;
  for (int v = 0; v < side * side; ++v) {
    if (v % side + 1 < side) scopes.push_back({v, v + 1});
    if (v + side < side * side) scopes.push_back({v, v + side});
  }
  return scopes;
}

Scopes random_scopes(Random& random, int num_variables, int num_scopes, int most) {
  Scopes scopes;
  for (int i = 0; i < num_scopes; ++i) {
    std::vector<int> scope = random.permutation(num_variables);
    scope.resize(1 + random.below(static_cast<std::uint64_t>(most)));
    scopes.push_back(std::move(scope));
  }
  return scopes;
}

// By definition: the sum of the sizes of all buckets.
double num_entries(const Scopes& scopes, const std::vector<double>& log2_states, const std::vector<int>& order,
                   std::size_t first = 0) {
  Adjacency adjacency(log2_states.size());
  for (const std::vector<int>& scope : scopes) {
    for (const int v : scope) {
      for (const int u : scope) {
        if (u != v) adjacency[v].push_back(u);
      }
    }
  }
  for (std::vector<int>& list : adjacency) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  const auto separator = separators(adjacency, order);
  double sum = 0.0;
  for (std::size_t i = first; i < order.size(); ++i) {
    double log2_size = log2_states[order[i]];
    for (const int u : separator[order[i]]) log2_size += log2_states[u];
    sum += std::exp2(log2_size);
  }
  return sum;
}

bool is_permutation_of_all(std::vector<int> order, std::size_t count) {
  std::sort(order.begin(), order.end());
  std::vector<int> all(count);
  std::iota(all.begin(), all.end(), 0);
  return order == all;
}

TEST(TableSets, DropTablesWithinOthersAndVariablesOfOneTable) {
  const std::vector<double> two(6, 1.0);
  // 5 has no table. 0 is in one table once {0, 1} is part of {0, 1, 2}; without it, {1, 2} is a table like any other.
  const TableSets sets({{0, 1}, {2, 1, 0}, {}, {1, 3}, {2, 3}, {3, 4}}, two);
  EXPECT_EQ(sets.scopes(), (Scopes{{1, 2}, {1, 3}, {2, 3}}));
  EXPECT_EQ(sets.removed_first(), (std::vector<int>{0, 4, 5}));
}

TEST(TableSets, NothingIsLeftOfATree) {
  const std::vector<double> two(5, 1.0);
  const TableSets sets({{0, 1}, {1, 2}, {1, 3}, {3, 4}}, two);
  EXPECT_EQ(sets.num_tables(), 0U);
  EXPECT_TRUE(is_permutation_of_all(sets.removed_first(), 5));
  ContractionTree tree(sets, std::vector<int>{4, 3, 2, 1, 0});
  Random random(1);
  StopCheck stop({});
  tree.anneal({.num_proposals = 100}, random, stop);
  EXPECT_EQ(tree.order(), sets.removed_first());
}

TEST(ContractionTree, ItsWorkBoundsThatOfItsOrderBeforeAndAfterAnnealing) {
  Random random(2);
  for (int trial = 0; trial < 60; ++trial) {
    const int n = 2 + static_cast<int>(random.below(80));
    const Scopes scopes = random_scopes(random, n, n + static_cast<int>(random.below(40)), 4);
    std::vector<double> log2_states;
    for (int v = 0; v < n; ++v) log2_states.push_back(std::log2(1 + random.below(5)));
    const TableSets sets(scopes, log2_states);
    ContractionTree tree(sets, random.permutation(n));
    for (const double temperature : {0.5, 2.0, 0.01}) {
      // A node that removes k variables has buckets of w, w - 1, ..., bits for variables with two states, more where
      // some have one state.
      const std::vector<int> order = tree.order();
      ASSERT_TRUE(is_permutation_of_all(order, log2_states.size()));
      const double entries = num_entries(scopes, log2_states, order, sets.removed_first().size());
      const double most_per_node = n;
      EXPECT_LE(entries, most_per_node * std::exp2(tree.log2_work()) * (1.0 + 1e-9));
      StopCheck stop({});
      tree.anneal({5000, temperature, temperature}, random, stop);
    }
  }
}

TEST(ContractionTree, WithTwoStatesTheOrderTakesAtMostTwiceTheWorkOfTheTree) {
  Random random(3);
  for (int trial = 0; trial < 40; ++trial) {
    const int n = 20 + static_cast<int>(random.below(120));
    const Scopes scopes = random_scopes(random, n, 2 * n, 3);
    const std::vector<double> log2_states(static_cast<std::size_t>(n), 1.0);
    const TableSets sets(scopes, log2_states);
    ContractionTree tree(sets, random.permutation(n));
    StopCheck stop({});
    tree.anneal({20'000}, random, stop);
    const double entries = num_entries(scopes, log2_states, tree.order(), sets.removed_first().size());
    EXPECT_LE(entries, 2.0 * std::exp2(tree.log2_work()) * (1.0 + 1e-9));
  }
}

TEST(ContractionTree, AnnealingAnyOrderOfAGridComesNearTheBestOne) {
  const Scopes scopes = grid(10);
  const std::vector<double> two(100, 1.0);
  const TableSets sets(scopes, two);
  Random random(4);
  ContractionTree tree(sets, random.permutation(100));
  const double before = tree.log2_work();
  StopCheck stop({});
  tree.anneal({.num_proposals = 400'000}, random, stop);
  std::vector<int> by_rows(100);
  std::iota(by_rows.begin(), by_rows.end(), 0);
  EXPECT_GT(before, 25.0);
  EXPECT_LT(num_entries(scopes, two, tree.order()), 0.5 * num_entries(scopes, two, by_rows));
}

TEST(ContractionTree, TheSameSeedGivesTheSameOrder) {
  const Scopes scopes = grid(8);
  const TableSets sets(scopes, std::vector<double>(64, 1.0));
  const auto order = [&](std::uint64_t seed) {
    Random random(seed);
    std::vector<int> given(64);
    std::iota(given.begin(), given.end(), 0);
    ContractionTree tree(sets, given);
    StopCheck stop({});
    tree.anneal({.num_proposals = 30'000}, random, stop);
    return tree.order();
  };
  EXPECT_EQ(order(5), order(5));
  EXPECT_NE(order(5), order(6));
}

TEST(ContractionTree, ComponentsAndVariablesWithOneStateAreFine) {
  const std::vector<double> log2_states = {1.0, 1.0, 1.0, 0.0, 2.0, 2.0, 2.0, 0.0};
  const TableSets sets({{0, 1}, {1, 2}, {0, 2, 3}, {4, 5}, {5, 6}, {4, 6}, {3, 7}}, log2_states);
  ContractionTree tree(sets, std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
  Random random(6);
  StopCheck stop({});
  tree.anneal({.num_proposals = 10'000}, random, stop);
  EXPECT_TRUE(is_permutation_of_all(tree.order(), 8));
}

TEST(ContractionTree, AnnealingEndsWhenItIsAskedTo) {
  const TableSets sets(grid(8), std::vector<double>(64, 1.0));
  Random random(7);
  ContractionTree tree(sets, random.permutation(64));
  StopCheck stop([] { return true; });
  testing::expect_error(ErrorCode::kInterrupted, [&] { tree.anneal({.num_proposals = 1'000'000'000}, random, stop); });
}

}  // namespace
}  // namespace treesample
