#include "treesample/baselines/call_samplers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "support/expect_error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr CallSampler kAll[] = {CallSampler::kRandom,    CallSampler::kMetropolis,   CallSampler::kTempering,
                                CallSampler::kAnnealing, CallSampler::kCrossEntropy, CallSampler::kFrequencies};

// Impossible where the first two variables are equal.
double value(std::span<const int> s) {
  return s[0] == s[1] ? kNegInf : 1.5 * (s[0] == 2) - 0.7 * s[2] + 0.3 * s[1] * s[3];
}

FactorGraph function_of_all(std::multiset<std::vector<int>>* calls = nullptr, int num_variables = 6) {
  FactorGraph graph;
  std::vector<int> scope;
  for (int v = 0; v < num_variables; ++v) scope.push_back(graph.add_variable(3));
  graph.add_table({1}, {0.0, -0.25, 0.5});
  graph.add_factor(Factor::function(scope, [calls](std::span<const int> states) {
    if (calls != nullptr) calls->insert({states.begin(), states.end()});
    return value(states);
  }));
  return graph;
}

Limits calls(std::int64_t count) {
  Limits limits;
  limits.budget = count;
  limits.unit = BudgetUnit::kCall;
  return limits;
}

TEST(CallSamplers, AskEachConfigurationOnceAndNeverMoreThanAllowed) {
  for (const CallSampler sampler : kAll) {
    std::multiset<std::vector<int>> called;
    const CallSamplerResult result = sample_by_calls(function_of_all(&called), calls(100), sampler, 7);
    EXPECT_LE(called.size(), 100U);
    EXPECT_GE(called.size(), 90U);
    EXPECT_EQ(std::set<std::vector<int>>(called.begin(), called.end()).size(), called.size());
    EXPECT_EQ(result.report.num_asked, std::ssize(called));
    EXPECT_EQ(result.report.spent.calls, std::ssize(called));
  }
}

TEST(CallSamplers, GiveTheTrueWeightsOfWhatTheyAsked) {
  for (const CallSampler sampler : kAll) {
    std::multiset<std::vector<int>> called;
    const FactorGraph graph = function_of_all(&called);
    const CallSamplerResult result = sample_by_calls(graph, calls(60), sampler, 3);
    std::vector<double> densities;
    double best = kNegInf;
    const std::set<std::vector<int>> asked(called.begin(), called.end());
    for (const std::vector<int>& x : asked) {
      densities.push_back(graph.log_density(x));
      best = std::max(best, densities.back());
    }
    EXPECT_NEAR(result.log_known, log_sum_exp(densities), 1e-12);
    EXPECT_EQ(result.best->log_density, best);
    for (const std::vector<int>& x : asked) {
      const double expected = graph.log_density(x) - result.log_known;
      if (expected == kNegInf) {
        EXPECT_EQ(result.approximation.log_prob(x), kNegInf);
      } else {
        EXPECT_NEAR(result.approximation.log_prob(x), expected, 1e-9);
      }
    }
  }
}

TEST(CallSamplers, KnowEverythingWhenTheyCanAskForEverything) {
  const FactorGraph graph = function_of_all(nullptr, 4);
  std::vector<double> densities;
  for (int i = 0; i < 81; ++i)
    densities.push_back(graph.log_density(std::vector<int>{i / 27, i / 9 % 3, i / 3 % 3, i % 3}));
  for (const CallSampler sampler : kAll) {
    EXPECT_NEAR(sample_by_calls(graph, calls(81), sampler, 1).log_known, log_sum_exp(densities), 1e-9);
  }
}

TEST(CallSamplers, AFixedSeedGivesTheSameBits) {
  for (const CallSampler sampler : kAll) {
    const FactorGraph graph = function_of_all();
    EXPECT_EQ(sample_by_calls(graph, calls(50), sampler, 5).log_known,
              sample_by_calls(graph, calls(50), sampler, 5).log_known);
  }
}

TEST(CallSamplers, NothingPossibleIsNoDistribution) {
  FactorGraph graph;
  const int v = graph.add_variable(4);
  graph.add_factor(Factor::function({v}, [](std::span<const int>) { return kNegInf; }));
  for (const CallSampler sampler : kAll) {
    const CallSamplerResult result = sample_by_calls(graph, calls(3), sampler, 1);
    EXPECT_TRUE(result.approximation.is_empty());
    EXPECT_FALSE(result.best);
    EXPECT_EQ(result.log_known, kNegInf);
  }
  testing::expect_error(ErrorCode::kArgument, [&] { sample_by_calls(graph, calls(0), CallSampler::kRandom, 1); });
}

}  // namespace
}  // namespace treesample
