// Paths of hundreds of thousands of levels: set-up is linear in the model, and nothing calls itself once per level.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/random_models.hpp"
#include "treesample/exact/find_configuration.hpp"
#include "treesample/math/random.hpp"
#include "treesample/reduce/summed_model.hpp"
#include "treesample/search/search.hpp"
#include "treesample/search/search_approximation.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/value/leaf_value.hpp"

namespace treesample {
namespace {

std::vector<int> given_order(const FactorGraph& graph) { return testing::integers(graph.num_variables()); }

// Factors between v and v + distance.
FactorGraph path(int num_variables, int distance) {
  Random random(3);
  FactorGraph graph;
  for (int v = 0; v < num_variables; ++v) graph.add_variable(2 + (v % 7 == 0 ? 1 : 0));
  for (int v = 0; v + distance < num_variables; ++v) {
    std::vector<double> values(static_cast<std::size_t>(graph.num_states(v)) * graph.num_states(v + distance));
    for (double& value : values) value = random.normal();
    graph.add_table({v, v + distance}, std::move(values));
  }
  return graph;
}

// The maximum, or the mean, of a factor of path() over the states of variables from `level` on.
double reduced(const FactorGraph& graph, const Factor& factor, const Assignment& x, int level, bool is_mean) {
  const int first = factor.scope()[0], second = factor.scope()[1];
  double sum = 0.0, most = -HUGE_VAL;
  int count = 0;
  for (int a = 0; a < graph.num_states(first); ++a) {
    for (int b = 0; b < graph.num_states(second); ++b) {
      if ((first < level && a != x[first]) || (second < level && b != x[second])) continue;
      const double value = factor.log_values()[a * graph.num_states(second) + b];
      sum += value;
      most = std::max(most, value);
      ++count;
    }
  }
  return is_mean ? sum / count : most;
}

TEST(LongPath, SumsAreTheSameWhetherTheyAreStoredOrCollected) {
  // Far factors are for very many levels each, near ones for one.
  for (const int distance : {1, 1600}) {
    const FactorGraph graph = path(3200, distance);
    for (const SpaceKind kind : {SpaceKind::kTree, SpaceKind::kAndOr}) {
      const SearchSpace space = make_search_space(graph, given_order(graph), kind);
      const auto upper = maxima_value(graph, space);
      const auto lower = product_value(graph, space, uniform_distributions(graph));
      Random random(8);
      Assignment x(graph.num_variables());
      for (int v = 0; v < graph.num_variables(); ++v) x[v] = static_cast<int>(random.below(graph.num_states(v)));
      for (const int level : {0, 1, 7, 1599, 1600, 1601, 2500, 3199}) {
        if (kind == SpaceKind::kAndOr && level < 1600) continue;  // several roots: below them other levels count
        double most = 0.0, mean = 0.0;
        for (int n = level; n < (kind == SpaceKind::kTree ? graph.num_variables() : level + 1); ++n) {
          most += std::log(graph.num_states(n));
          mean += std::log(graph.num_states(n));
        }
        for (const Factor& factor : graph.factors()) {
          const bool is_below = kind == SpaceKind::kTree ? factor.scope()[1] >= level : factor.scope()[1] == level;
          if (!is_below) continue;
          most += reduced(graph, factor, x, level, false);
          mean += reduced(graph, factor, x, level, true);
        }
        if (kind == SpaceKind::kAndOr && distance == 1) continue;  // one path, as in the tree
        EXPECT_NEAR(upper->log_value(level, x), most, 1e-6);
        EXPECT_GE(upper->log_value(level, x), most - 1e-10);
        EXPECT_NEAR(lower->log_value(level, x), mean, 1e-6);
        EXPECT_LE(lower->log_value(level, x), mean + 1e-10);
        const int parent = space.levels[level].parent;
        if (parent < 0) continue;
        std::vector<double> values(graph.num_states(parent));
        Assignment y = x;
        upper->log_values(level, parent, y, values);
        for (int a = 0; a < graph.num_states(parent); ++a) {
          y = x;
          y[parent] = a;
          EXPECT_NEAR(values[a], upper->log_value(level, y), 1e-9);
        }
      }
    }
  }
}

// With a square of the levels anywhere this would take minutes, and recursion would end it.
TEST(LongPath, ASearchGoesDownToTheLastLevel) {
  constexpr int kLength = 100'000;
  const FactorGraph graph = path(kLength, 1);
  const FindResult found = find_configuration(graph);
  ASSERT_EQ(found.outcome, FindOutcome::kFound);
  for (const SpaceKind kind : {SpaceKind::kTree, SpaceKind::kGraph, SpaceKind::kAndOr}) {
    const SearchSpace space = make_search_space(graph, given_order(graph), kind);
    LeafValues leaves{.lower = product_value(graph, space, uniform_distributions(graph)),
                      .upper = maxima_value(graph, space)};
    const Limits limits{.budget = 2 * kLength + kLength / 7 + 64};  // the first configuration, and a few traversals
    const SearchResult result = search(graph, space, leaves, limits, {.first_configurations = {found.configuration.x}});
    EXPECT_GE(result.report.num_expansions, std::uint64_t{kLength});
    EXPECT_LE(result.report.log_z.lower, result.report.log_z.upper);
    const auto best = best_configuration(result);
    ASSERT_TRUE(best.has_value());
    EXPECT_GE(best->log_density, found.configuration.log_density - 1e-3);
    const SearchApproximation upper(result, SamplerKind::kUpper);
    Random random(1);
    EXPECT_EQ(upper.sample(random).size(), std::size_t{kLength});
  }
}

TEST(LongPath, DivesGoDownToTheLastLevel) {
  FactorGraph graph;  // all equal, so that nothing but a dive finds something
  constexpr int kLength = 100'000;
  for (int v = 0; v < kLength; ++v) graph.add_variable(2);
  for (int v = 0; v + 1 < kLength; ++v) graph.add_table({v, v + 1}, {0.0, -HUGE_VAL, -HUGE_VAL, 0.0});
  const SearchSpace space = make_search_space(graph, given_order(graph), SpaceKind::kTree);
  LeafValues leaves{.upper = maxima_value(graph, space)};
  const SearchResult result = search(graph, space, leaves, {.budget = 4 * kLength, .seconds = 20.0});
  EXPECT_GE(result.report.num_dives, 1);
  EXPECT_GE(result.report.log_z.lower, -1e-6);
}

TEST(LongPath, AHubOfBarrenVariablesIsSummedOutInLinearTime) {
  FactorGraph graph;
  const int hub = graph.add_variable(2);
  constexpr int kLeaves = 300'000;
  for (int i = 0; i < kLeaves; ++i) {
    const int leaf = graph.add_variable(2);
    graph.add_table({hub, leaf}, {std::log(0.25), std::log(0.75), std::log(0.5), std::log(0.5)});
  }
  EXPECT_EQ(SummedModel(graph).num_summed_out(), kLeaves + 1);
}

}  // namespace
}  // namespace treesample
