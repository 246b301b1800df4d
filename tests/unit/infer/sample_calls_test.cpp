// Samples whose true densities are asked: they stay within the limits of calls, and the answer counts them.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "treesample/infer/infer.hpp"
#include "treesample/oracle/oracle_set.hpp"

namespace treesample {
namespace {

// Two functions over all variables that count their calls.
struct Simulator {
  static constexpr int kNumVariables = 6;

  explicit Simulator(std::int64_t fails_after = Limits::kUnlimited, std::optional<double> cost = {}) {
    std::vector<int> scope;
    for (int v = 0; v < kNumVariables; ++v) scope.push_back(graph.add_variable(3));
    for (int i = 0; i < 2; ++i) {
      const auto function = [calls = calls, i, fails_after](std::span<const int> x) {
        if (++*calls > fails_after) throw std::runtime_error("it does not converge");
        double sum = 0.0;
        for (std::size_t v = 0; v < x.size(); ++v) sum += x[v] * (v % 2 == 0 ? 1.3 : -0.7);
        return -3.0 + 3.0 * std::cos(sum + i);
      };
      graph.add_factor(Factor::function(scope, function, 0.0, cost));
    }
  }
  [[nodiscard]] Model model() const { return Model(std::make_shared<OracleSet>(graph, "1", OracleOptions())); }
  [[nodiscard]] std::int64_t num_calls() const { return *calls; }

  FactorGraph graph;
  std::shared_ptr<std::atomic<std::int64_t>> calls = std::make_shared<std::atomic<std::int64_t>>(0);
};

InferOptions with(SelectRule rule, std::optional<std::int64_t> importance) {
  InferOptions options;
  options.select = rule;
  options.importance = importance;
  return options;
}

TEST(SampleCalls, FunctionsOfThisProcessAreNotCalledBeyondTheLimit) {
  for (const SelectRule rule : {SelectRule::kMass, SelectRule::kGap, SelectRule::kQUct}) {
    for (const std::optional<std::int64_t> importance : {std::optional<std::int64_t>(), {5}, {1000}}) {
      const Simulator simulator;
      const Answer answer = infer(simulator.graph, {}, {.calls = 60}, with(rule, importance));
      EXPECT_LE(simulator.num_calls(), 60) << to_string(rule);
      EXPECT_LE(answer.spent.calls, 60) << to_string(rule);
      EXPECT_GT(simulator.num_calls(), 30) << to_string(rule);
    }
  }
}

TEST(SampleCalls, ABudgetOfCostIsNotExceededBySamples) {
  constexpr double kCost = 0.5;
  for (const SelectRule rule : {SelectRule::kMass, SelectRule::kGap, SelectRule::kQUct}) {
    for (const std::int64_t importance : {5, 1000}) {
      const Simulator simulator(Limits::kUnlimited, kCost);
      InferOptions options = with(rule, importance);
      options.budget_unit = BudgetUnit::kCost;
      const Answer answer = infer(simulator.graph, {}, {.budget = 20}, options);
      EXPECT_LE(kCost * static_cast<double>(simulator.num_calls()), 20.0) << to_string(rule);
      EXPECT_GT(simulator.num_calls(), 20) << to_string(rule);
    }
  }
}

TEST(SampleCalls, TheAnswerCountsWhatSamplesHavePaid) {
  for (const SelectRule rule : {SelectRule::kMass, SelectRule::kGap, SelectRule::kQUct}) {
    const Simulator simulator;
    const Answer answer = infer(simulator.model(), {}, {.calls = 60}, with(rule, 10));
    EXPECT_LE(simulator.num_calls(), 60) << to_string(rule);
    EXPECT_EQ(answer.spent.calls, simulator.num_calls()) << to_string(rule);
  }
}

TEST(SampleCalls, NewCallsAreALimitOfSamplesToo) {
  for (const SelectRule rule : {SelectRule::kMass, SelectRule::kGap}) {
    const Simulator simulator;
    infer(simulator.model(), {}, {.calls = 1000, .new_calls = 50}, with(rule, 100));
    EXPECT_LE(simulator.num_calls(), 50) << to_string(rule);
  }
}

InferOptions with_rejection() {
  InferOptions options = with(SelectRule::kGap, {});
  options.sampler = SampleSource::kRejection;
  return options;
}

TEST(SampleCalls, NewCallsAreALimitOfParticlesToo) {
  for (const Method method : {Method::kSis, Method::kSmc}) {
    const Simulator simulator;
    InferOptions options;
    options.method = method;
    infer(simulator.model(), {}, {.calls = 1000, .new_calls = 50}, options);
    EXPECT_LE(simulator.num_calls(), 50) << to_string(method);
    EXPECT_GT(simulator.num_calls(), 20) << to_string(method);
  }
}

// Where they mean nothing they take no calls from the method.
TEST(SampleCalls, MethodsWithoutImportanceSamplesKeepTheirCalls) {
  const Simulator simulator;
  InferOptions options;
  options.method = Method::kLearned;
  options.importance = 1000;
  infer(simulator.model(), {}, {.calls = 60}, options);
  EXPECT_GE(simulator.num_calls(), 58);
}

TEST(SampleCalls, RejectionStaysWithinTheLimits) {
  for (const bool is_new : {false, true}) {
    const Simulator simulator;
    Limits limits{.calls = is_new ? 1000 : 60};
    if (is_new) limits.new_calls = 60;
    const Answer answer = infer(simulator.model(), {.samples = 1000}, limits, with_rejection());
    EXPECT_LE(simulator.num_calls(), 60);
    EXPECT_EQ(answer.spent.calls, simulator.num_calls());
    EXPECT_LT(answer.samples.size(), 1000);
  }
}

// Values that are known cost nothing, so that a solved model has as many samples as are asked for.
TEST(SampleCalls, RejectionFromASolvedModelCostsNothing) {
  FactorGraph graph;
  graph.add_variable(2);
  graph.add_variable(2);
  graph.add_factor(Factor::function(
      {0, 1}, [](std::span<const int> x) { return -0.3 * (x[0] + 2 * x[1]); }, 0.0));
  const Model model(std::make_shared<OracleSet>(graph, "1", OracleOptions()));
  InferOptions options = with_rejection();
  options.noise = "no";
  const Answer answer = infer(model, {.samples = 200}, {.calls = 20}, options);
  EXPECT_TRUE(answer.is_exact);
  EXPECT_EQ(answer.samples.size(), 200);
  EXPECT_LE(answer.spent.calls, 4);
}

TEST(SampleCalls, AFunctionThatFailsDuringRejectionLeavesTheAnswerSoFar) {
  const Simulator simulator(50);
  const Answer answer = infer(simulator.model(), {.samples = 1000}, {.calls = 90}, with_rejection());
  ASSERT_TRUE(answer.error);
  EXPECT_TRUE(answer.lower && answer.upper);
}

}  // namespace
}  // namespace treesample
