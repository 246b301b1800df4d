#include "treesample/baselines/belief_propagation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

using testing::expect_error;
using testing::ring;

// 4 factors, 8 messages, 36 entries per step; 4 variables times 3 steps per sample.
TEST(BpSample, ChargesAsDocumented) {
  const FactorGraph graph = ring(4, 3);
  const auto report = [&](BpCharge charge, BudgetUnit unit) {
    return bp_sample(graph, {.budget = 2000, .unit = unit}, {.num_steps = 3, .charge = charge}).report;
  };
  const BpSampleReport by_factor = report(BpCharge::kFactor, BudgetUnit::kReward);
  EXPECT_EQ(by_factor.num_samples, 2000 / 48);
  EXPECT_EQ(by_factor.spent.reward_evaluations, 41 * 48);
  EXPECT_EQ(by_factor.spent.factor_evaluations, 41 * 12 * 36);
  EXPECT_EQ(report(BpCharge::kMessage, BudgetUnit::kReward).num_samples, 2000 / 96);
  EXPECT_EQ(report(BpCharge::kEntry, BudgetUnit::kReward).num_samples, 2000 / 432);
  for (const BpCharge charge : {BpCharge::kFactor, BpCharge::kMessage, BpCharge::kEntry}) {
    const BpSampleReport in_factors = report(charge, BudgetUnit::kFactor);
    EXPECT_EQ(in_factors.num_samples, 2000 / 432);
    EXPECT_EQ(in_factors.spent.factor_evaluations, 4 * 432);
  }
}

// x_0 = x_1 and x_1 != x_2 and x_2 = x_0: every branch ends in a contradiction, which a few steps reveal.
TEST(BpSample, ContradictionsAreCountedAndLeftOut) {
  FactorGraph graph = testing::variables(3, 2);
  graph.add_table({0, 1}, {0.0, kNegInf, kNegInf, 0.0});
  graph.add_table({1, 2}, {kNegInf, 0.0, 0.0, kNegInf});
  graph.add_table({2, 0}, {0.0, kNegInf, kNegInf, 0.0});
  const BpSampleResult result = bp_sample(graph, {.budget = 900}, {.num_steps = 4});
  EXPECT_EQ(result.report.num_samples, 25);
  EXPECT_EQ(result.report.num_contradictions, 25);
  EXPECT_EQ(result.report.spent.reward_evaluations, 900);
  EXPECT_TRUE(result.approximation.is_empty());
}

// A constant sends no messages: the sample is complete and only then known to have density 0.
TEST(BpSample, SamplesOfDensityZeroAreLeftOutAndCounted) {
  FactorGraph graph = testing::variables({2});
  graph.add_table({0}, {0.0, 0.0});
  graph.add_table({}, {kNegInf});
  const BpSampleResult result = bp_sample(graph, {.budget = 10}, {.num_steps = 1});
  EXPECT_EQ(result.report.num_samples, 10);
  EXPECT_EQ(result.report.num_zero_density, 10);
  EXPECT_TRUE(result.approximation.is_empty());
}

// All variables equal: two configurations that a walk would not leave. 5 standard errors: a false alarm in
// fewer than 1 of 1e6 seeds.
TEST(BpSample, SamplesAreIndependent) {
  FactorGraph graph = testing::variables(4, 2);
  for (int v = 0; v + 1 < 4; ++v) graph.add_table({v, v + 1}, {0.0, kNegInf, kNegInf, 0.0});
  const BpSampleResult result = bp_sample(graph, {.budget = 3 * 4 * 4 * 1000}, {.num_steps = 4});
  ASSERT_EQ(result.report.num_samples, 1000);
  ASSERT_EQ(result.approximation.num_atoms(), 2);
  EXPECT_NEAR(result.approximation.probability(0), 0.5, 5.0 * std::sqrt(0.25 / 1000));
}

TEST(BpSample, SameSeedSameBitsAndOtherSeedOtherBits) {
  const FactorGraph graph = ring(5, 4);
  const BpSampleOptions options{.num_steps = 3, .damping = 0.2, .seed = 8};
  const BpSampleResult first = bp_sample(graph, {.budget = 2000}, options);
  const BpSampleResult second = bp_sample(graph, {.budget = 2000}, options);
  EXPECT_EQ(first.approximation.mean_log_density(), second.approximation.mean_log_density());
  EXPECT_EQ(first.approximation.entropy(), second.approximation.entropy());
  BpSampleOptions other = options;
  other.seed = 9;
  EXPECT_NE(bp_sample(graph, {.budget = 2000}, other).approximation.mean_log_density(),
            first.approximation.mean_log_density());
}

TEST(BpSample, ObserverEndsTheRunWithTheSamplesSoFar) {
  std::int64_t num_samples = 0;
  const Observer observer{[&](const Progress& now) { num_samples = now.num_samples; },
                          [&] { return num_samples >= 3; }};
  const BpSampleResult result = bp_sample(ring(5, 3), {.budget = 100'000}, {}, observer);
  EXPECT_EQ(result.report.stop, StopReason::kInterrupted);
  EXPECT_EQ(result.report.num_samples, 3);
  EXPECT_EQ(result.report.spent.reward_evaluations, 3 * 5 * 5 * 5);
  EXPECT_FALSE(result.approximation.is_empty());
}

TEST(BeliefPropagation, ReportsWhenItDidNotConverge) {
  const FactorGraph graph = ring(6, 3);
  const BeliefPropagationResult early = belief_propagation(graph, {}, {.max_steps = 1});
  EXPECT_FALSE(early.report.is_converged());
  EXPECT_EQ(early.report.num_steps, 1);
  EXPECT_GT(early.report.last_change, 0.0);
  const BeliefPropagationResult late = belief_propagation(graph);
  EXPECT_TRUE(late.report.is_converged());
  EXPECT_LE(late.report.last_change, 1e-9);
  EXPECT_EQ(late.report.spent.factor_evaluations, 6 * 9);
}

TEST(BeliefPropagation, EndsWithTheBeliefsSoFarWhenAsked) {
  const FactorGraph graph = ring(6, 3);
  BeliefPropagationOptions options{.max_steps = 7, .tolerance = 0.0};
  const BeliefPropagationResult seven = belief_propagation(graph, {}, options);
  EXPECT_EQ(seven.report.stop, StopReason::kBudget);
  int num_asked = 0;
  options.max_steps = 1000;
  const Observer observer{.should_stop = [&] { return ++num_asked == 7; }};
  const BeliefPropagationResult stopped = belief_propagation(graph, {}, options, observer);
  EXPECT_EQ(stopped.report.stop, StopReason::kInterrupted);
  EXPECT_EQ(stopped.report.num_steps, 7);
  EXPECT_EQ(stopped.marginals, seven.marginals);
}

TEST(BeliefPropagation, DegenerateModels) {
  FactorGraph nothing;
  nothing.add_table({}, {1.5});
  EXPECT_EQ(belief_propagation(nothing).report.estimate, 1.5);
  EXPECT_EQ(bp_sample(nothing, {.budget = 2}).approximation.mean_log_density(), 1.5);

  FactorGraph alone;  // a variable without factors, one with a single state, a constant
  alone.add_variable(4);
  alone.add_variable(1);
  alone.add_table({1}, {0.25});
  alone.add_table({}, {-1.0});
  const BeliefPropagationResult result = belief_propagation(alone);
  EXPECT_NEAR(result.report.estimate, std::log(4.0) - 0.75, 1e-14);
  EXPECT_EQ(result.marginals[0], std::vector<double>(4, 0.25));
  EXPECT_EQ(result.marginals[1], std::vector<double>(1, 1.0));

  FactorGraph impossible = testing::variables({2});
  impossible.add_table({}, {kNegInf});
  EXPECT_EQ(belief_propagation(impossible).report.estimate, kNegInf);
  EXPECT_EQ(belief_propagation(impossible).marginals[0], std::vector<double>(2, 0.0));
}

TEST(BeliefPropagation, RefusesFunctionsAndBadOptions) {
  FactorGraph graph = ring(3, 2);
  EXPECT_THROW(belief_propagation(graph, {}, {.max_steps = 0}), Error);
  EXPECT_THROW(belief_propagation(graph, {}, {.tolerance = -1.0}), Error);
  EXPECT_THROW(belief_propagation(graph, {}, {.damping = 1.0}), Error);
  EXPECT_THROW(bp_sample(graph, {.budget = -1}), Error);
  EXPECT_THROW(bp_sample(graph, {.budget = 1000}, {.num_steps = 0}), Error);
  EXPECT_THROW(bp_sample(graph, {.budget = 1000}, {.damping = -0.1}), Error);
  EXPECT_THROW(bp_sample(graph, {.budget = 8}, {.num_steps = 1}), Error);  // a sample costs 9
  EXPECT_NO_THROW(bp_sample(graph, {.budget = 9}, {.num_steps = 1}));
  graph.add_factor(Factor::function({0}, [](std::span<const int>) { return 0.0; }));
  expect_error(ErrorCode::kArgument, "factor 3 is a function", [&] { bp_sample(graph, {.budget = 1000}); });
  expect_error(ErrorCode::kArgument, "factor 3 is a function", [&] { belief_propagation(graph); });
}

// Messages that go down without end: what is possible keeps a belief.
TEST(BeliefPropagation, MessagesThatDivergeAreStillNumbers) {
  constexpr int kPigeons = 7, kHoles = 8;
  FactorGraph graph = testing::variables(kPigeons * kHoles, 2);
  std::vector<double> one(std::size_t{1} << kHoles, 0.0);
  one.front() = kNegInf;
  for (int pigeon = 0; pigeon < kPigeons; ++pigeon) {
    std::vector<int> scope;
    for (int hole = 0; hole < kHoles; ++hole) scope.push_back(pigeon * kHoles + hole);
    graph.add_table(scope, one);
    for (int other = 0; other < pigeon; ++other) {
      for (int hole = 0; hole < kHoles; ++hole)
        graph.add_table({pigeon * kHoles + hole, other * kHoles + hole}, {0.0, 0.0, 0.0, kNegInf});
    }
  }
  const BeliefPropagationResult result = belief_propagation(graph);
  EXPECT_TRUE(std::isfinite(result.report.estimate));
  for (const std::vector<double>& belief : result.marginals) EXPECT_NEAR(belief[0] + belief[1], 1.0, 1e-12);
}

}  // namespace
}  // namespace treesample
