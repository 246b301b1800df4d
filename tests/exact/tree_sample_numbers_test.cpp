// The tree search, and the search by its rule, with values of any magnitude.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/expect_same_tree.hpp"
#include "support/search_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/search/q_uct_search.hpp"

namespace treesample {
namespace {

using testing::expect_same_tree;
using testing::for_each_configuration;
using testing::kSpaces;
using testing::kUnlimited;
using testing::random_model;
using testing::space_of;
using testing::total_probability;

TEST(TreeSample, HugeAndTinyValuesNeitherOverflowNorVanish) {
  for (const double shift : {-4000.0, 4000.0}) {
    Random random(5);
    FactorGraph graph = testing::variables(6, 3);
    for (int v = 0; v + 1 < 6; ++v) {
      std::vector<double> values(9);
      for (double& value : values) value = shift * random.uniform() + random.normal();
      graph.add_table({v, v + 1}, values);
    }
    for (const SpaceKind kind : kSpaces) {
      const QUctResult result = q_uct_search(graph, space_of(graph, kind), {}, {.budget = kUnlimited});
      EXPECT_NEAR(result.approximation->log_value(), enumerate(graph).log_z, 1e-8);
      EXPECT_NEAR(total_probability(graph, *result.approximation), 1.0, 1e-9);
    }
    expect_same_tree(graph, {0, 1, 2, 3, 4, 5}, 300, {});
  }
}

// A large negative number in place of log 0, also where a node has no other state.
TEST(TreeSample, PenaltiesOfAnySizeActAsImpossible) {
  Random random(15);
  for (int variant = 0; variant < 40; ++variant) {
    const double penalty = std::vector{-1e9, -1e12, -1e30, -1e300}[variant % 4];
    FactorGraph graph = testing::variables(5, 2 + variant % 3);
    const int k = graph.num_states(0);
    for (int v = 0; v + 1 < 5; ++v) {
      std::vector<double> values(static_cast<std::size_t>(k) * k);
      for (double& value : values) value = random.uniform() < 0.5 ? penalty : random.normal();
      values[0] = 1.0;  // one configuration is possible
      graph.add_table({v, v + 1}, values);
    }
    for (const SpaceKind kind : kSpaces) {
      for (const std::int64_t budget : {std::int64_t{40}, kUnlimited}) {
        const QUctResult result = q_uct_search(graph, space_of(graph, kind), {}, {.budget = budget});
        ASSERT_NEAR(total_probability(graph, *result.approximation), 1.0, 1e-9) << variant;
        if (budget == kUnlimited) {
          ASSERT_NEAR(result.approximation->log_value(), enumerate(graph).log_z, 1e-9) << variant;
        }
      }
    }
  }
}

// The product of the components' values leaves the range of a double, the edge's own value does not.
TEST(TreeSample, ComponentsOfExtremeValuesAreMultipliedExactly) {
  for (const double r : {-62.5, -182.0, -186.5, -300.0, 186.5}) {
    for (const bool is_mixed : {false, true}) {
      FactorGraph graph;
      const int root = graph.add_variable(2);
      for (int i = 0; i < 8; ++i) {
        const double value = is_mixed && i % 2 == 1 ? -r : r;
        graph.add_table({root, graph.add_variable(2)}, {value, value + 0.5, value, value - 0.5});
      }
      const QUctResult result = q_uct_search(graph, space_of(graph, SpaceKind::kAndOr), {}, {.budget = kUnlimited});
      EXPECT_NEAR(result.approximation->log_value(), enumerate(graph).log_z, 1e-10) << r << is_mixed;
      EXPECT_NEAR(result.approximation->best()->log_density, graph.log_density(result.approximation->best()->x), 1e-9);
    }
  }
}

TEST(TreeSample, RefusesValuesThatItCannotHold) {
  for (const double value : {-1e12, 1e12}) {
    FactorGraph graph = testing::variables({2});
    graph.add_factor(Factor::table_of_sums({0}, {value, value}));
    EXPECT_THROW(tree_sample(graph, space_of(graph, SpaceKind::kTree), {}, {}), Error);
    for (const SpaceKind kind : {SpaceKind::kGraph, SpaceKind::kAndOr}) {
      try {  // or reports that nothing is certain
        const StoreReport report = q_uct_search(graph, space_of(graph, kind), {}, {}).report;
        EXPECT_EQ(report.stop, StopReason::kRounding);
        EXPECT_LE(report.log_z.lower, value);
        EXPECT_GE(report.log_z.upper, value);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kNumeric);
      }
    }
  }
}

}  // namespace
}  // namespace treesample
