// The errors that a learned model is given by samples: what they estimate, and how often they cover the truth.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "support/random_models.hpp"
#include "surrogate/difference_estimate.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/oracle/oracle_set.hpp"
#include "treesample/surrogate/learned_search.hpp"

namespace treesample {
namespace {

// A function with small effects that no few terms explain.
FactorGraph rough_model(int num_variables, std::uint64_t seed, double roughness) {
  FactorGraph graph = testing::variables(num_variables, 3);
  const std::vector<int> scope = testing::integers(num_variables);
  graph.add_factor(Factor::function(scope, [seed, roughness](std::span<const int> x) {
    double value = -0.8 * std::abs(x[0] - x[1]) + 0.5 * x[2] * x[3];
    std::uint64_t hash = seed;
    for (const int a : x) hash = (hash ^ static_cast<std::uint64_t>(a + 1)) * 0x9E3779B97F4A7C15U;
    return value + roughness * Random(hash, "roughness").normal();
  }));
  return graph;
}

double true_log_z(const FactorGraph& graph) {
  Assignment x(static_cast<std::size_t>(graph.num_variables()), 0);
  double log_z = kNegInf;
  while (true) {
    log_z = log_add_exp(log_z, graph.log_density(x));
    int v = graph.num_variables() - 1;
    while (v >= 0 && ++x[v] == graph.num_states(v)) x[v--] = 0;
    if (v < 0) return log_z;
  }
}

// 40 seeds of an interval that holds with probability 0.95: fewer than 32 with probability 1e-4.
TEST(LearnedErrors, IntervalsCoverTheTruthAboutAsOftenAsTheySay) {
  int num_given = 0, num_covered = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const FactorGraph graph = rough_model(7, seed, 0.4);
    const LearnedResult result =
        learned_search(graph, {.budget = 200, .unit = BudgetUnit::kCall}, {.seed = seed, .error_share = 0.2});
    ASSERT_TRUE(result.report.errors);
    if (!result.report.errors->no_error.empty()) continue;
    const double log_z = true_log_z(graph);
    ++num_given;
    num_covered +=
        result.report.errors->interval.lower <= log_z && log_z <= result.report.errors->interval.upper ? 1 : 0;
  }
  EXPECT_GE(num_given, 30);
  EXPECT_GE(num_covered, num_given * 8 / 10);
}

// Whatever was learned, the mean of many estimates is Z: here of a model that is wrong by up to 1 nat. The standard
// error of the mean is 1 / 60 of that of one estimate; five of them are exceeded once in 2e6.
TEST(LearnedErrors, TheDifferenceEstimateIsUnbiased) {
  FactorGraph learned = testing::variables(3, 2);
  learned.add_table({0, 1}, {0.3, -0.2, 0.9, 0.0});
  const auto target = [](const Assignment& x) { return 0.5 * x[0] - 0.7 * x[1] * x[2] + 0.4; };
  const Assignment asked = {0, 1, 0};
  const LearnedApproximation approximation(Elimination(learned), learned, {{asked, target(asked)}});
  double z = 0.0;
  for (int i = 0; i < 8; ++i) z += std::exp(target({i >> 2, (i >> 1) & 1, i & 1}));
  const Marginals marginals = Elimination(learned).marginals();
  constexpr int kRuns = 3600;
  double sum = 0.0, squares = 0.0;
  Random random(4, "samples");
  for (int run = 0; run < kRuns; ++run) {
    std::vector<TargetSample> samples;
    for (int i = 0; i < 10; ++i) {
      const Assignment x = approximation.sample_elsewhere(random);
      const double log_q = approximation.log_prob(x) + approximation.log_value() - approximation.log_elsewhere();
      samples.push_back({x, target(x) - log_q, learned.log_density(x) - log_q});
    }
    const double found = std::exp(
        difference_estimate(approximation.log_asked(), approximation.log_elsewhere(), marginals, samples, {}).log_z);
    sum += found;
    squares += found * found;
  }
  const double mean = sum / kRuns;
  const double error = std::sqrt((squares / kRuns - mean * mean) / kRuns);
  EXPECT_NEAR(mean, z, 5.0 * error);
  EXPECT_LT(error, 0.02 * z);
}

// A few values that were not asked have most of Z, and no sample meets them: nothing is known about the error. While
// samples alone decided whether there is one, 19 of these 30 intervals were wrong.
TEST(LearnedErrors, ValuesThatScatterByManyNatsHaveNoErrors) {
  int num_missed = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const FactorGraph graph = rough_model(7, seed, seed % 2 == 0 ? 10.0 : 50.0);
    const LearnedResult result = learned_search(graph, {.budget = seed % 3 == 0 ? 60 : 150, .unit = BudgetUnit::kCall},
                                                {.seed = seed, .error_share = 0.2});
    ASSERT_TRUE(result.report.errors);
    if (!result.report.errors->no_error.empty()) continue;
    const double log_z = true_log_z(graph);
    const LogBounds& interval = result.report.errors->interval;
    num_missed += log_z < interval.lower || interval.upper < log_z ? 1 : 0;
  }
  EXPECT_LE(num_missed, 3);
}

TEST(LearnedErrors, FewSamplesHaveNoErrors) {
  const std::vector<TargetSample> samples(9, {{0}, -50.0, -50.0});  // a share of Z that does not matter, as learned
  EXPECT_NE(difference_estimate(0.0, -45.0, {{0.5, 0.5}}, samples, {}).no_error, "");
  const std::vector<TargetSample> enough(10, {{0}, -50.0, -50.0});
  EXPECT_EQ(difference_estimate(0.0, -45.0, {{0.5, 0.5}}, enough, {}).no_error, "");
}

// A sample whose answer is late is not passed over for those after it: slow values may be the large ones.
TEST(LearnedErrors, SamplesEndAtTheFirstWithoutAnAnswer) {
  FactorGraph graph = testing::variables(8, 3);
  std::atomic<int> num_calls = 0;
  std::atomic<bool> is_over = false;
  graph.add_factor(Factor::function(testing::integers(8), [&](std::span<const int> x) {
    const bool is_slow = ++num_calls == 35;
    while (is_slow && !is_over) std::this_thread::yield();
    return 0.1 * x[0] - 0.2 * x[3];
  }));
  OracleSet set(graph, "1", {.num_workers = 2, .is_interrupted = [&] { return num_calls >= 60; }});
  const LearnedResult result = learned_search(set.graph(), {.budget = 60, .unit = BudgetUnit::kCall},
                                              {.answer_order = AnswerOrder::kArrival, .error_share = 0.5});
  is_over = true;
  ASSERT_TRUE(result.report.errors);
  EXPECT_LE(result.report.errors->num_samples, 10);
}

TEST(LearnedErrors, OneHeavySampleIsAGuess) {
  std::vector<TargetSample> samples(30, {{0}, -5.0, -1.0});
  samples.front().log_target = 8.0;
  const SampledErrors errors = difference_estimate(kNegInf, 0.0, {{0.5, 0.5}}, samples, {});
  EXPECT_NE(errors.no_error, "");
  EXPECT_LT(errors.ess, 1.1);
}

// What was learned is far below the true values: ratios whose squares overflow.
TEST(LearnedErrors, TrueValuesFarAboveTheLearnedOnesAreNumbers) {
  for (const double log_target : {200.0, 400.0, 1e6}) {
    std::vector<TargetSample> samples(2, {{0}, log_target, -1.0});
    samples.back().log_target = log_target - 1.0;
    const SampledErrors errors = difference_estimate(-2.0, 0.0, {{0.5, 0.5}}, samples, {});
    EXPECT_NEAR(errors.log_z, log_target + std::log(0.5 + 0.5 * std::exp(-1.0)), 1e-9 * log_target);
    EXPECT_EQ(errors.std_error, HUGE_VAL);  // not known, for which there is a reason
    EXPECT_FALSE(std::isnan(errors.interval.lower) || std::isnan(errors.interval.upper));
    EXPECT_NEAR(errors.marginals[0][0] + errors.marginals[0][1], 1.0, 1e-12);
    EXPECT_NE(errors.no_error, "");
  }
}

}  // namespace
}  // namespace treesample
