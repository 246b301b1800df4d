#include "treesample/baselines/gibbs.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

using testing::random_model;
using testing::ring;

// 5 variables of 3 states with 2 factors each: a sweep costs 15 states or 5 updates or 30 factor values.
TEST(Gibbs, ChargesAsDocumented) {
  const FactorGraph graph = ring(5, 3);
  const GibbsReport by_state = gibbs(graph, {.budget = 1000}, {.num_sweeps = 4}).report;
  EXPECT_EQ(by_state.num_samples, 1000 / 60);
  EXPECT_EQ(by_state.spent.reward_evaluations, 16 * 60);
  EXPECT_EQ(by_state.spent.factor_evaluations, 16 * 120);
  const GibbsReport by_update =
      gibbs(graph, {.budget = 1000}, {.num_sweeps = 4, .charge = GibbsCharge::kUpdate}).report;
  EXPECT_EQ(by_update.num_samples, 50);
  EXPECT_EQ(by_update.spent.reward_evaluations, 1000);
  const GibbsReport by_factor = gibbs(graph, {.budget = 1000, .unit = BudgetUnit::kFactor}, {.num_sweeps = 4}).report;
  EXPECT_EQ(by_factor.num_samples, 1000 / 120);
  EXPECT_EQ(by_factor.spent.factor_evaluations, 8 * 120);
  const GibbsOptions chain{.mode = GibbsMode::kChain, .num_sweeps = 4, .burn_in = 10};
  const GibbsReport by_chain = gibbs(graph, {.budget = 1000}, chain).report;
  EXPECT_EQ(by_chain.num_samples, (1000 - 150) / 60);
  EXPECT_EQ(by_chain.spent.reward_evaluations, 150 + 14 * 60);
}

TEST(Gibbs, BudgetIsNeverExceededAndEvaluationsAreCounted) {
  Random random(71);
  for (int trial = 0; trial < 60; ++trial) {
    FactorGraph graph = random_model(random, {.num_variables = 1 + trial % 5,
                                              .num_factors = 6,
                                              .min_arity = trial % 2,
                                              .zero_probability = trial % 3 == 0 ? 0.3 : 0.0});
    int calls = 0;
    FactorGraph counted;
    for (int v = 0; v < graph.num_variables(); ++v) counted.add_variable(graph.num_states(v));
    for (const Factor& factor : graph.factors()) {
      counted.add_factor(Factor::function(factor.scope(), [&calls, &counted, factor](std::span<const int> states) {
        ++calls;
        std::size_t index = 0;
        for (std::size_t i = 0; i < states.size(); ++i) {
          index = index * counted.num_states(factor.scope()[i]) + states[i];
        }
        return factor.log_values()[index];
      }));
    }
    for (const std::int64_t budget : {200, 777}) {
      const GibbsOptions options{.num_sweeps = 1 + trial % 3};
      EXPECT_LE(gibbs(graph, {.budget = budget}, options).report.spent.reward_evaluations, budget);
      const Limits by_factor{.budget = budget, .unit = BudgetUnit::kFactor};
      calls = 0;
      const GibbsResult functions = gibbs(counted, by_factor, options);
      ASSERT_EQ(functions.report.spent.factor_evaluations, calls);
      ASSERT_LE(calls, budget);
      // Tables and functions walk alike.
      const GibbsResult tables = gibbs(graph, by_factor, options);
      ASSERT_EQ(tables.report.spent.factor_evaluations, calls);
      ASSERT_EQ(tables.approximation.num_atoms(), functions.approximation.num_atoms());
      for (int i = 0; i < tables.approximation.num_atoms(); ++i) {
        ASSERT_EQ(tables.approximation.log_density(i), functions.approximation.log_density(i));
        ASSERT_NEAR(tables.approximation.log_density(i), graph.log_density(tables.approximation.atom(i)), 1e-12);
      }
    }
  }
}

TEST(Gibbs, FactorsAfterTheFirstZeroAreNotEvaluated) {
  FactorGraph graph = testing::variables({3});
  int calls = 0;
  graph.add_table({0}, {kNegInf, 0.0, kNegInf});
  graph.add_factor(Factor::function({0}, [&](std::span<const int> states) {
    ++calls;
    EXPECT_EQ(states[0], 1);
    return 0.5;
  }));
  const GibbsReport report = gibbs(graph, {.budget = 30}, {.num_sweeps = 1}).report;
  EXPECT_EQ(report.num_samples, 10);
  EXPECT_EQ(calls, 10);
  EXPECT_EQ(report.spent.factor_evaluations, 10 * (3 + 1));
}

// All variables equal: from a random start a sweep soon meets the two configurations and stays.
TEST(Gibbs, WalksFromImpossibleStatesToPossibleOnes) {
  FactorGraph graph = testing::variables(4, 2);
  for (int v = 0; v + 1 < 4; ++v) graph.add_table({v, v + 1}, {0.0, kNegInf, kNegInf, 0.3});
  const GibbsResult result = gibbs(graph, {.budget = 8 * 30 * 200}, {.num_sweeps = 30});
  EXPECT_EQ(result.report.num_samples, 200);
  EXPECT_LT(result.report.num_zero_density, 20);
  EXPECT_EQ(result.approximation.num_atoms(), 2);
  EXPECT_TRUE(std::isfinite(result.approximation.mean_log_density()));
}

TEST(Gibbs, SamplesOfDensityZeroAreLeftOutAndCounted) {
  FactorGraph graph = testing::variables({2, 3});
  graph.add_table({0, 1}, std::vector<double>(6, kNegInf));
  const GibbsResult result = gibbs(graph, {.budget = 100}, {.num_sweeps = 2});
  EXPECT_EQ(result.report.num_samples, 10);
  EXPECT_EQ(result.report.num_zero_density, 10);
  EXPECT_TRUE(result.approximation.is_empty());
  Random random(0);
  EXPECT_THROW(static_cast<void>(result.approximation.sample(random)), Error);
}

TEST(Gibbs, DegenerateModels) {
  FactorGraph nothing;
  nothing.add_table({}, {1.5});
  EXPECT_EQ(gibbs(nothing, {.budget = 3}).approximation.mean_log_density(), 1.5);

  FactorGraph single_states = testing::variables(3, 1);
  single_states.add_table({2, 0}, {-0.75});
  EXPECT_EQ(gibbs(single_states, {.budget = 30}).approximation.mean_log_density(), -0.75);

  FactorGraph no_factors = testing::variables({3});
  const GibbsResult free = gibbs(no_factors, {.budget = 50, .unit = BudgetUnit::kFactor});
  EXPECT_EQ(free.report.num_samples, 50);
  EXPECT_EQ(free.report.spent.factor_evaluations, 0);
}

TEST(Gibbs, SameSeedSameBitsAndOtherSeedOtherBits) {
  const FactorGraph graph = ring(6, 4);
  for (const GibbsMode mode : {GibbsMode::kRestarts, GibbsMode::kChain}) {
    const GibbsOptions options{.mode = mode, .num_sweeps = 2, .seed = 5};
    const GibbsResult first = gibbs(graph, {.budget = 3000}, options);
    const GibbsResult second = gibbs(graph, {.budget = 3000}, options);
    EXPECT_EQ(first.approximation.mean_log_density(), second.approximation.mean_log_density());
    EXPECT_EQ(first.approximation.entropy(), second.approximation.entropy());
    GibbsOptions other = options;
    other.seed = 6;
    EXPECT_NE(gibbs(graph, {.budget = 3000}, other).approximation.mean_log_density(),
              first.approximation.mean_log_density());
  }
}

TEST(Gibbs, ObserverEndsTheRunWithTheSamplesSoFar) {
  const FactorGraph graph = ring(5, 3);
  std::int64_t num_samples = 0;
  const Observer observer{[&](const Progress& now) { num_samples = now.num_samples; },
                          [&] { return num_samples >= 7; }};
  const GibbsResult result = gibbs(graph, {.budget = 100'000}, {}, observer);
  EXPECT_EQ(result.report.stop, StopReason::kInterrupted);
  EXPECT_EQ(result.report.num_samples, 7);
  const GibbsReport late = gibbs(graph, {.budget = 100'000, .seconds = 0.0}).report;
  EXPECT_EQ(late.stop, StopReason::kTime);
  EXPECT_EQ(late.num_samples, 1);
  EXPECT_FALSE(result.approximation.is_empty());
}

TEST(Gibbs, RefusesBadOptionsAndValues) {
  const FactorGraph graph = ring(5, 3);
  EXPECT_THROW(gibbs(graph, {.budget = -1}), Error);
  EXPECT_THROW(gibbs(graph, {.budget = 10'000}, {.num_sweeps = 0}), Error);
  EXPECT_THROW(gibbs(graph, {.budget = 10'000}, {.burn_in = 5}), Error);  // restarts have none
  EXPECT_THROW(gibbs(graph, {.budget = 10'000}, {.mode = GibbsMode::kChain, .burn_in = -1}), Error);
  EXPECT_THROW(gibbs(graph, {.budget = 14}, {.num_sweeps = 1}), Error);  // one sweep costs 15
  EXPECT_NO_THROW(gibbs(graph, {.budget = 15}, {.num_sweeps = 1}));
  EXPECT_THROW(gibbs(graph, {.budget = 29}, {.mode = GibbsMode::kChain, .num_sweeps = 1, .burn_in = 1}), Error);
  FactorGraph bad = testing::variables({2});
  bad.add_factor(Factor::function({0}, [](std::span<const int>) { return HUGE_VAL; }));
  testing::expect_error(ErrorCode::kNumeric, [&] { gibbs(bad, {.budget = 100}); });
}

}  // namespace
}  // namespace treesample
