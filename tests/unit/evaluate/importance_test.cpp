#include "treesample/evaluate/importance.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/tree/tree_sample.hpp"

namespace treesample {
namespace {

TreeApproximation search(const FactorGraph& graph, std::int64_t budget) {
  const std::vector<int> order = testing::integers(graph.num_variables());
  return tree_sample(graph, make_search_space(graph, order, SpaceKind::kTree), {}, {.budget = budget}).approximation;
}

TEST(ImportanceEstimate, IsExactForAnExactApproximation) {
  Random random(1);
  for (int i = 0; i < 20; ++i) {
    const FactorGraph graph = testing::random_model(random, {.min_arity = 0, .zero_probability = 0.1});
    const double log_z = enumerate(graph).log_z;
    if (log_z == kNegInf) continue;
    const ImportanceEstimate estimate = importance_estimate(graph, search(graph, 100'000), 50, random);
    EXPECT_NEAR(estimate.log_z, log_z, 1e-12);
    EXPECT_NEAR(estimate.std_error, 0.0, 1e-12);
    EXPECT_NEAR(estimate.ess, 50.0, 1e-9);
    EXPECT_EQ(estimate.num_samples, 50);
  }
}

// The mean over many runs is compared with Z at 5 of its standard errors: a false alarm in 2e6 seeds.
TEST(ImportanceEstimate, IsUnbiasedAndKnowsItsError) {
  Random random(2);
  const FactorGraph graph = testing::random_model(random, {.min_states = 2, .zero_probability = 0.1});
  const double log_z = enumerate(graph).log_z;
  const TreeApproximation approximation = search(graph, 20);
  ASSERT_FALSE(approximation.is_exact());
  constexpr int kRuns = 2000;
  double mean = 0.0;
  double mean_of_squares = 0.0;
  double mean_error = 0.0;
  int num_errors = 0;
  for (int run = 0; run < kRuns; ++run) {
    const ImportanceEstimate estimate = importance_estimate(graph, approximation, 100, random);
    const double ratio = std::exp(estimate.log_z - log_z);
    mean += ratio / kRuns;
    mean_of_squares += ratio * ratio / kRuns;
    EXPECT_EQ(std::isfinite(estimate.std_error), estimate.ess >= kFewestEffectiveSamples);
    if (estimate.no_error.empty()) {
      mean_error += estimate.std_error;
      ++num_errors;
    }
    EXPECT_GE(estimate.ess, 1.0);
    EXPECT_LT(estimate.ess, 100.0);
  }
  const double deviation = std::sqrt(mean_of_squares - mean * mean);
  EXPECT_GT(deviation, 0.01);
  EXPECT_NEAR(mean, 1.0, 5.0 * deviation / std::sqrt(kRuns));
  EXPECT_GT(num_errors, kRuns * 9 / 10);
  EXPECT_NEAR(mean_error / num_errors / deviation, 1.0, 0.1);
}

TEST(ImportanceEstimate, CountsWhatItEvaluates) {
  FactorGraph graph = testing::variables({2, 2});
  graph.add_table({}, {3.0});
  graph.add_table({0}, {0.0, 1.0});
  graph.add_table({0, 1}, {0.0, 1.0, 2.0, 3.0});
  Random random(3);
  const ImportanceEstimate estimate = importance_estimate(graph, search(graph, 0), 200, random);
  EXPECT_EQ(estimate.spent.reward_evaluations, 400);
  EXPECT_EQ(estimate.spent.factor_evaluations, 400);
  EXPECT_EQ(estimate.best.x, (Assignment{1, 1}));
  EXPECT_DOUBLE_EQ(estimate.best.log_density, 7.0);
}

// Two configurations, one of them impossible, under a uniform P_X: weights 2 and 0.
TEST(ImportanceEstimate, ImpossibleSamplesWeighNothing) {
  FactorGraph graph = testing::variables({2});
  graph.add_table({0}, {0.0, kNegInf});
  Random random(4);
  const ImportanceEstimate estimate = importance_estimate(graph, search(graph, 0), 1000, random);
  const double fraction = std::exp(estimate.log_z) / 2.0;
  EXPECT_NEAR(fraction, 0.5, 0.08);
  EXPECT_NEAR(estimate.ess, 1000.0 * fraction, 1e-6);
  EXPECT_NEAR(estimate.std_error, std::sqrt((1.0 - fraction) / fraction / 999.0), 1e-12);
  EXPECT_EQ(estimate.best.x, Assignment{0});
}

TEST(ImportanceEstimate, AllWeightsZeroGivesMinusInfinityAndNoNan) {
  FactorGraph graph = testing::variables({2});
  graph.add_table({0}, {kNegInf, kNegInf});
  Random random(5);
  const ImportanceEstimate sampled = importance_estimate(graph, search(graph, 1), 10, random);
  EXPECT_EQ(sampled.log_z, kNegInf);
  EXPECT_EQ(sampled.std_error, HUGE_VAL);
  EXPECT_EQ(sampled.ess, 0.0);
  EXPECT_EQ(sampled.num_samples, 10);
  EXPECT_EQ(sampled.best.log_density, kNegInf);
  const ImportanceEstimate known = importance_estimate(graph, search(graph, 2), 10, random);  // Z = 0 is proved
  EXPECT_EQ(known.log_z, kNegInf);
  EXPECT_EQ(known.std_error, 0.0);
  EXPECT_EQ(known.num_samples, 0);
  EXPECT_EQ(known.spent.factor_evaluations, 0);
}

TEST(ImportanceEstimate, SurvivesExtremeLogValues) {
  FactorGraph graph = testing::variables({2});
  graph.add_table({0}, {1e4, 1e4 - 1.0});
  graph.add_table({}, {-5e5});
  Random random(6);
  const ImportanceEstimate estimate = importance_estimate(graph, search(graph, 0), 4000, random);
  EXPECT_NEAR(estimate.log_z, 1e4 - 5e5 + std::log1p(std::exp(-1.0)), 5.0 * estimate.std_error);
  EXPECT_GT(estimate.std_error, 1e-3);
  EXPECT_LT(estimate.std_error, 1e-2);
}

TEST(ImportanceEstimate, ObserverEndsItWithTheEstimateSoFar) {
  Random random(7);
  const FactorGraph graph = testing::random_model(random);
  const TreeApproximation approximation = search(graph, 5);
  Random whole(8);
  const ImportanceEstimate seven = importance_estimate(graph, approximation, 7, whole);
  Random ended(8);
  std::int64_t num_samples = 0;
  const Observer observer{[&](const Progress& now) { num_samples = now.num_samples; },
                          [&] { return num_samples >= 7; }};
  const ImportanceEstimate estimate = importance_estimate(graph, approximation, 1000, ended, observer);
  EXPECT_EQ(estimate.num_samples, 7);
  EXPECT_EQ(estimate.log_z, seven.log_z);
  EXPECT_EQ(estimate.spent.factor_evaluations, seven.spent.factor_evaluations);
  EXPECT_EQ(importance_estimate(graph, approximation, 1, ended).std_error, HUGE_VAL);
  EXPECT_THROW((void)importance_estimate(graph, approximation, 0, ended), Error);
}

}  // namespace
}  // namespace treesample
