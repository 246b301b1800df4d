// Merging equal sub-problems and splitting into components change the cost of the search with bounds, and nothing else.
// Nodes are identified by (level, states of the context), so sub-problems of different variables are different nodes
// even where their tables are equal.
#include <gtest/gtest.h>

#include <cmath>

#include "search/bound_store.hpp"
#include "support/random_models.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/search.hpp"
#include "treesample/search/search_approximation.hpp"

namespace treesample {
namespace {

using testing::random_model;

constexpr SpaceKind kSpaces[] = {SpaceKind::kTree, SpaceKind::kGraph, SpaceKind::kAndOr};

SearchResult solve(const FactorGraph& graph, const SearchSpace& space, const SearchOptions& options = {},
                   const Limits& limits = {}) {
  LeafValues leaves{.lower = product_value(graph, space, uniform_distributions(graph)),
                    .upper = maxima_value(graph, space)};
  return search(graph, space, leaves, limits, options);
}

TEST(SearchSpaces, EveryOrderAndSpaceGivesTheSameLogZAndSamplers) {
  for (int trial = 0; trial < 40; ++trial) {
    Random random(trial, "spaces");
    const FactorGraph graph =
        random_model(random, {.num_variables = 5, .min_arity = 0, .zero_probability = 0.1 * (trial % 3)});
    const double log_z = enumerate(graph).log_z;
    for (int i = 0; i < 4; ++i) {
      const std::vector<int> order = random.permutation(graph.num_variables());
      for (const SpaceKind kind : kSpaces) {
        const SearchResult result = solve(graph, make_search_space(graph, order, kind));
        ASSERT_EQ(result.report.stop, StopReason::kExact);
        if (log_z == kNegInf) {
          EXPECT_EQ(result.report.log_z.upper, kNegInf);
          continue;
        }
        const double tolerance = 1e-10 * (1.0 + std::abs(log_z));
        EXPECT_NEAR(result.report.log_z.lower, log_z, tolerance);
        EXPECT_NEAR(result.report.log_z.upper, log_z, tolerance);
        const SearchApproximation sampler(result, SamplerKind::kLower);
        EXPECT_NEAR(sampler.log_value(), log_z, tolerance);
        const Assignment x = sampler.sample(random);
        EXPECT_NEAR(sampler.log_prob(x), graph.log_density(x) - log_z, 1e-9 * (1.0 + std::abs(log_z)));
      }
    }
  }
}

// Equal sub-problems are one node: a solved model without zeros has one node per level and context, and every edge was
// paid for once.
TEST(SearchSpaces, SolvingTakesEveryContextOnce) {
  for (int trial = 0; trial < 20; ++trial) {
    Random random(trial, "contexts");
    const FactorGraph graph = random_model(random, {.num_variables = 6, .min_states = 2});
    double cost_of_tree = 0.0;
    for (const SpaceKind kind : kSpaces) {
      const SearchSpace space = make_search_space(graph, search_order(graph, kind, {}), kind);
      for (const SelectRule rule : {SelectRule::kGap, SelectRule::kQUct}) {
        const SearchResult result = solve(graph, space, {.select = rule});
        for (int n = 0; n < space.num_levels(); ++n) {
          EXPECT_EQ(result.store->end_index(n), std::lround(std::exp(space.levels[n].log_context_states)));
        }
        const double cost = std::exp(space.log_exact_cost());
        EXPECT_EQ(result.report.spent.reward_evaluations, std::lround(cost));
        if (kind == SpaceKind::kTree) cost_of_tree = cost;
        EXPECT_LE(cost, 1.001 * cost_of_tree);
      }
    }
  }
}

// x0 with two equal arms x1 - x2 and x3 - x4. Each arm has a node per state of x0, and below it one per state of the
// arm's first variable, whatever x0 is; the arms have the same values.
TEST(SearchSpaces, EqualComponentsHaveEqualValuesAndNodesOfTheirOwn) {
  FactorGraph graph = testing::variables(5, 3);
  Random random(1);
  std::vector<double> first(9), second(9);
  for (double& value : first) value = random.normal();
  for (double& value : second) value = random.normal();
  for (const int v : {1, 3}) {
    graph.add_table({0, v}, first);
    graph.add_table({v, v + 1}, second);
  }
  const std::vector<int> order = testing::integers(5);
  const SearchSpace space = make_search_space(graph, order, SpaceKind::kAndOr);
  ASSERT_EQ(space.levels[0].children, (std::vector<int>{1, 3}));
  const SearchResult result = solve(graph, space);
  const BoundStore& store = *result.store;
  EXPECT_EQ(result.report.num_nodes, 1 + 4 * 3);
  const Expansion root = store.expansion(0, store.node(0, store.root_links()[0]));
  for (int a = 0; a < 3; ++a) {
    const BoundNode& one = store.node(1, root.links(a)[0]);
    const BoundNode& other = store.node(3, root.links(a)[1]);
    EXPECT_EQ(one.log_lower(), other.log_lower());
    EXPECT_EQ(one.log_upper(), other.log_upper());
    // The second variable of the arm does not see x0: the links of all three nodes agree.
    for (int b = 0; b < 3; ++b) {
      EXPECT_EQ(store.expansion(1, one).links(b)[0], store.expansion(1, store.node(1, root.links(0)[0])).links(b)[0]);
    }
  }
}

}  // namespace
}  // namespace treesample
