// The search with bounds with large numbers: its values must neither overflow nor be lost.
#include <gtest/gtest.h>

#include <cmath>

#include "support/bounds_check.hpp"
#include "support/random_models.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/search.hpp"
#include "treesample/search/search_approximation.hpp"

namespace treesample {
namespace {

constexpr SpaceKind kSpaces[] = {SpaceKind::kTree, SpaceKind::kGraph, SpaceKind::kAndOr};

LeafValues maxima_and_means(const FactorGraph& graph, const SearchSpace& space) {
  return {.lower = product_value(graph, space, uniform_distributions(graph)), .upper = maxima_value(graph, space)};
}

// Checks the bounds after every traversal.
SearchReport checked_search(const FactorGraph& graph, const SearchSpace& space, SelectRule rule, double log_z) {
  SearchOptions options{.select = rule, .observer_interval = 1};
  return search(graph, space, maxima_and_means(graph, space), {}, options, {testing::BoundsCheck(log_z)}).report;
}

TEST(SearchNumbers, FactorsOfManyThousandNatsAreSolvedToTheLastDigits) {
  for (int trial = 0; trial < 24; ++trial) {
    Random random(trial, "huge factors");
    testing::RandomModelOptions model{.num_variables = 5,
                                      .max_states = 3,
                                      .num_factors = 7,
                                      .zero_probability = 0.1 * (trial % 2),
                                      .scale = std::pow(10.0, 2 + trial % 4)};
    const FactorGraph graph = random_model(random, model);
    const double log_z = enumerate(graph).log_z;
    for (const SpaceKind kind : kSpaces) {
      const SearchSpace space = make_search_space(graph, search_order(graph, kind, {}), kind);
      for (const SelectRule rule : {SelectRule::kGap, SelectRule::kQUct, SelectRule::kMass}) {
        SCOPED_TRACE(::testing::Message() << "trial " << trial << ", space " << static_cast<int>(kind) << ", rule "
                                          << static_cast<int>(rule));
        const SearchReport report = checked_search(graph, space, rule, log_z);
        EXPECT_EQ(report.stop, StopReason::kExact);
        if (log_z == kNegInf) {
          EXPECT_EQ(report.log_z.upper, kNegInf);
          continue;
        }
        EXPECT_NEAR(report.log_z.lower, log_z, 1e-11 * (1.0 + std::abs(log_z) + model.scale));
        EXPECT_NEAR(report.log_z.upper, log_z, 1e-11 * (1.0 + std::abs(log_z) + model.scale));
      }
    }
  }
}

// Numbers that stand for "nearly impossible" and exceed every exponent affect nothing but themselves.
TEST(SearchNumbers, EntriesBeyondAllExponentsLeaveTheRestExact) {
  for (const double tiny : {-1e6, -1e9, -1e20, -1e300}) {
    FactorGraph graph = testing::variables(5, 2);
    for (int v = 1; v < 5; ++v) graph.add_table({v - 1, v}, {0.5, v == 2 ? tiny : -1.0, 0.25 * v, v == 4 ? tiny : 1.0});
    const double log_z = enumerate(graph).log_z;
    for (const SpaceKind kind : kSpaces) {
      const SearchSpace space = make_search_space(graph, search_order(graph, kind, {}), kind);
      const SearchReport report = checked_search(graph, space, SelectRule::kGap, log_z);
      EXPECT_EQ(report.stop, StopReason::kExact);
      EXPECT_NEAR(report.log_z.lower, log_z, 1e-12) << tiny;
      EXPECT_NEAR(report.log_z.upper, log_z, 1e-12) << tiny;
    }
  }
}

// Rewards whose factors cancel have larger errors than their magnitude suggests.
TEST(SearchNumbers, BoundsHoldWhereFactorsOfARewardCancel) {
  for (int trial = 0; trial < 50; ++trial) {
    Random random(trial, "cancelling");
    FactorGraph graph = testing::variables({2, 2});
    std::vector<double> one(4), other(4), third(4);
    long double z = 0.0L;
    for (int i = 0; i < 4; ++i) {
      one[i] = 1e7 * (random.uniform() + 0.5);
      other[i] = random.uniform() - one[i];
      third[i] = random.uniform();
      z += std::exp(static_cast<long double>(one[i]) + other[i] + third[i]);
    }
    graph.add_table({0, 1}, {third[0], third[1], third[2], third[3]});
    graph.add_table({0, 1}, one);
    graph.add_table({0, 1}, other);
    const long double log_z = std::log(z);
    for (const SpaceKind kind : kSpaces) {
      const SearchSpace space = make_search_space(graph, search_order(graph, kind, {}), kind);
      const LogBounds found = search(graph, space, maxima_and_means(graph, space), {}).report.log_z;
      EXPECT_LE(found.lower, log_z);
      EXPECT_GE(found.upper, log_z);
      EXPECT_LT(found.upper - found.lower, 1e-6);
    }
  }
}

// A root with 300 components: the product of their values is e^3000 or e^-3000, and that of their gaps as extreme.
TEST(SearchNumbers, ProductsOverManyComponentsAreRight) {
  for (const double shift : {-10.0, 0.0, 10.0}) {
    FactorGraph graph = testing::variables({2});
    for (int v = 1; v <= 600; ++v) graph.add_variable(2);
    for (int v = 1; v <= 600; v += 2) {
      graph.add_table({0, v}, {shift, shift + 1.0, shift - 2.0, shift + 0.01 * v});
      graph.add_table({v, v + 1}, {0.0, 3.0, -3.0, 1.0});
    }
    const double log_z = Elimination(graph).log_z();
    std::vector<int> order(601);
    for (int v = 0; v <= 600; ++v) order[v] = v;
    const SearchSpace space = make_search_space(graph, order, SpaceKind::kAndOr);
    ASSERT_EQ(space.levels[0].children.size(), 300U);
    const SearchResult result = search(graph, space, maxima_and_means(graph, space), {});
    EXPECT_EQ(result.report.stop, StopReason::kExact);
    EXPECT_NEAR(result.report.log_z.lower, log_z, 1e-9);
    EXPECT_NEAR(result.report.log_z.upper, log_z, 1e-9);
    EXPECT_NEAR(SearchApproximation(result, SamplerKind::kLower).log_value(), log_z, 1e-9);
    const LogBounds early = search(graph, space, maxima_and_means(graph, space), {.budget = 40}).report.log_z;
    EXPECT_LE(early.lower, log_z);
    EXPECT_GE(early.upper, log_z);
    EXPECT_TRUE(std::isfinite(early.lower) && std::isfinite(early.upper));
  }
}

TEST(SearchNumbers, AShiftOfThousandsOfNatsChangesNoDecision) {
  for (int trial = 0; trial < 10; ++trial) {
    Random random(trial, "shifts");
    std::vector<std::vector<double>> tables(7, std::vector<double>(4));
    for (auto& table : tables) {
      for (double& value : table) value = static_cast<double>(random.below(64)) / 16.0 - 2.0;
    }
    for (const SpaceKind kind : kSpaces) {
      for (const SelectRule rule : {SelectRule::kGap, SelectRule::kQUct}) {
        const auto run = [&](double shift) {
          FactorGraph graph = testing::variables(6, 2);
          for (int m = 0; m < 7; ++m) {
            std::vector<double> values = tables[m];
            for (double& value : values) value += m == 2 ? shift : 0.0;
            graph.add_table({m % 6, (m + 1 + m / 6) % 6}, values);
          }
          const SearchSpace space = make_search_space(graph, search_order(graph, kind, {}), kind);
          SearchOptions options{.select = rule};
          return search(graph, space, maxima_and_means(graph, space), {.budget = 30}, options).report;
        };
        const SearchReport plain = run(0.0);
        for (const double shift : {-4096.0, -200.0, 130.0, 270.0, 532.0, 65536.0}) {
          const SearchReport moved = run(shift);
          EXPECT_EQ(plain.num_nodes, moved.num_nodes) << shift;
          EXPECT_EQ(plain.num_traversals, moved.num_traversals) << shift;
          EXPECT_NEAR(moved.log_z.lower - shift, plain.log_z.lower, 1e-9) << shift;
          EXPECT_NEAR(moved.log_z.upper - shift, plain.log_z.upper, 1e-9) << shift;
        }
      }
    }
  }
}

}  // namespace
}  // namespace treesample
