#include "treesample/space/search_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "support/random_models.hpp"
#include "treesample/error.hpp"

namespace treesample {
namespace {

constexpr SpaceKind kSpaces[] = {SpaceKind::kTree, SpaceKind::kGraph, SpaceKind::kAndOr};

std::set<int> ancestors_of(const SearchSpace& space, int level) {
  std::set<int> ancestors;
  for (int n = space.levels[level].parent; n >= 0; n = space.levels[n].parent) ancestors.insert(n);
  return ancestors;
}

// What the definitions of the header say, by brute force.
struct Defined {
  std::vector<std::set<int>> context;  // by level
  double log_constant = 0.0;
  int num_placed = 0;  // factors at a level
};

// A factor's scope lies on one path, and the factor belongs to its deepest level.
void add_factor(const SearchSpace& space, int factor, const std::vector<int>& levels, Defined& defined) {
  const std::set<int> path = ancestors_of(space, levels.back());
  for (std::size_t i = 0; i + 1 < levels.size(); ++i) ASSERT_TRUE(path.count(levels[i]));
  const std::vector<int>& factors = space.levels[levels.back()].factors;
  ASSERT_EQ(std::count(factors.begin(), factors.end(), factor), 1);
  ++defined.num_placed;
  for (const int member : levels) {  // for every level at or above a member, below another one
    std::set<int> at_or_above = ancestors_of(space, member);
    at_or_above.insert(member);
    for (const int n : at_or_above) {
      for (const int other : levels) {
        if (ancestors_of(space, n).count(other)) defined.context[n].insert(other);
      }
    }
  }
}

void expect_defined(const SearchSpace& space, SpaceKind kind, const Defined& defined) {
  EXPECT_NEAR(space.log_constant, defined.log_constant, 1e-12);
  int num_factors = 0;
  for (int n = 0; n < space.num_levels(); ++n) {
    const Level& level = space.levels[n];
    num_factors += static_cast<int>(level.factors.size());
    ASSERT_LT(level.parent, n);
    if (kind != SpaceKind::kTree) {
      ASSERT_EQ(std::set<int>(level.context.begin(), level.context.end()), defined.context[n]);
    }
    double log_states_below = 0.0;
    for (int j = 0; j < space.num_levels(); ++j) {
      if (ancestors_of(space, j).count(n)) log_states_below += std::log(space.levels[j].num_states);
    }
    ASSERT_NEAR(level.log_states_below, log_states_below, 1e-12);
  }
  ASSERT_EQ(num_factors, defined.num_placed);
  if (kind != SpaceKind::kAndOr) {
    ASSERT_LE(space.roots.size(), 1U);
  }
}

TEST(SearchSpace, IsWhatTheDefinitionsSay) {
  Random random(1);
  for (int variant = 0; variant < 100; ++variant) {
    const FactorGraph graph =
        testing::random_model(random, {.num_variables = 1 + variant % 8, .num_factors = variant % 10, .min_arity = 0});
    const std::vector<int> order = random.permutation(graph.num_variables());
    std::vector<int> level_of(order.size());
    for (std::size_t n = 0; n < order.size(); ++n) level_of[order[n]] = static_cast<int>(n);
    for (const SpaceKind kind : kSpaces) {
      const SearchSpace space = make_search_space(graph, order, kind);
      Defined defined{.context = std::vector<std::set<int>>(order.size())};
      for (int m = 0; m < graph.num_factors(); ++m) {
        std::vector<int> levels;
        for (const int v : graph.factor(m).scope()) levels.push_back(level_of[v]);
        if (levels.empty()) {
          defined.log_constant += graph.factor(m).log_values()[0];
          continue;
        }
        std::sort(levels.begin(), levels.end());
        ASSERT_NO_FATAL_FAILURE(add_factor(space, m, levels, defined));
      }
      ASSERT_NO_FATAL_FAILURE(expect_defined(space, kind, defined));
    }
  }
}

TEST(SearchSpace, ExactCostOfAChain) {
  FactorGraph graph = testing::variables(10, 5);
  for (int v = 0; v + 1 < 10; ++v) graph.add_table({v, v + 1}, std::vector<double>(25, 0.0));
  std::vector<int> order;
  for (int v = 0; v < 10; ++v) order.push_back(v);
  EXPECT_NEAR(std::exp(make_search_space(graph, order, SpaceKind::kGraph).log_exact_cost()), 230.0, 1e-9);
  EXPECT_NEAR(std::exp(make_search_space(graph, order, SpaceKind::kAndOr).log_exact_cost()), 230.0, 1e-9);
  EXPECT_NEAR(std::exp(make_search_space(graph, order, SpaceKind::kTree).log_exact_cost()), 12'207'030.0, 1e-3);
  EXPECT_EQ(make_search_space(graph, order, SpaceKind::kGraph).width(), 1);
}

TEST(SearchSpace, RestartsOnlyHelpAndAreSeeded) {
  Random random(2);
  const FactorGraph graph = testing::random_model(random, {.num_variables = 14, .num_factors = 25, .min_arity = 2});
  for (const SpaceKind kind : kSpaces) {
    const auto cost = [&](int restarts, std::uint64_t seed) {
      const OrderOptions options{.kind = OrderKind::kMinFill, .restarts = restarts, .seed = seed};
      return make_search_space(graph, search_order(graph, kind, options), kind).log_exact_cost();
    };
    EXPECT_LE(cost(50, 1), cost(1, 1));
    EXPECT_EQ(cost(20, 3), cost(20, 3));
  }
}

TEST(SearchSpace, OrdersSettleForTheBestSoFarWhenAsked) {
  Random random(2);
  const FactorGraph graph = testing::random_model(random, {.num_variables = 14, .num_factors = 25, .min_arity = 2});
  const OrderOptions one{.restarts = 1, .seed = 1};
  OrderOptions stopped{.restarts = 50, .seed = 1, .should_settle = [] { return true; }};
  EXPECT_EQ(search_order(graph, SpaceKind::kAndOr, stopped), search_order(graph, SpaceKind::kAndOr, one));
}

TEST(SearchSpace, RefusesWhatIsNoPermutation) {
  FactorGraph graph = testing::variables({2, 2});
  EXPECT_THROW(make_search_space(graph, std::vector<int>{0}, SpaceKind::kTree), Error);
  EXPECT_THROW(make_search_space(graph, std::vector<int>{0, 0}, SpaceKind::kTree), Error);
  EXPECT_THROW(make_search_space(graph, std::vector<int>{0, 2}, SpaceKind::kTree), Error);
}

}  // namespace
}  // namespace treesample
