// Metropolis and the frequencies of the best quarter: what they pay, what they count, how they end.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/random_models.hpp"
#include "treesample/baselines/frequencies.hpp"
#include "treesample/baselines/metropolis.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

using testing::random_model;

// All factors of a model in one function, which notes what it is asked.
struct Hidden {
  explicit Hidden(const FactorGraph& model) {
    std::vector<int> scope;
    for (int v = 0; v < model.num_variables(); ++v) scope.push_back(graph.add_variable(model.num_states(v)));
    graph.add_factor(Factor::function(scope, [this, model](std::span<const int> x) {
      ++num_calls;
      asked.emplace(x.begin(), x.end());
      return model.log_density(x);
    }));
  }
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;

  FactorGraph graph;
  std::int64_t num_calls = 0;
  std::set<Assignment> asked;
};

Limits of_calls(std::int64_t calls) { return {.budget = calls, .unit = BudgetUnit::kCall}; }

TEST(OneByOne, CallsAreCountedNeverExceededAndNeverMadeTwice) {
  Random random(17);
  for (int trial = 0; trial < 12; ++trial) {
    const FactorGraph model = random_model(random, {.num_variables = 5 + trial % 3,
                                                    .min_states = 2,
                                                    .num_factors = 6,
                                                    .zero_probability = trial % 3 == 0 ? 0.3 : 0.0});
    for (const std::int64_t budget : {1, 7, 60}) {
      Hidden chain(model), frequent(model);
      const MetropolisResult walk = metropolis(chain.graph, of_calls(budget), {.seed = 3});
      const FrequenciesResult found = best_by_frequencies(frequent.graph, of_calls(budget), {.seed = 3});
      EXPECT_EQ(walk.report.spent.calls, chain.num_calls);
      EXPECT_EQ(found.report.spent.calls, frequent.num_calls);
      EXPECT_LE(chain.num_calls, budget);
      EXPECT_LE(frequent.num_calls, budget);
      EXPECT_EQ(chain.num_calls, std::ssize(chain.asked));
      EXPECT_EQ(frequent.num_calls, std::ssize(frequent.asked));
      EXPECT_EQ(found.report.num_asked, frequent.num_calls);
      double best = kNegInf;
      for (const Assignment& x : chain.asked) best = std::max(best, model.log_density(x));
      EXPECT_EQ(walk.best ? walk.best->log_density : kNegInf, best);
    }
  }
}

TEST(OneByOne, SmallFunctionsAreCalledForWhatIsNewAlone) {
  FactorGraph graph;
  std::int64_t num_calls = 0;
  for (int v = 0; v < 8; ++v) graph.add_variable(3);
  for (int v = 0; v < 7; ++v) {
    graph.add_factor(Factor::function({v, v + 1}, [&num_calls](std::span<const int> x) {
      ++num_calls;
      return 0.3 * x[0] * x[1];
    }));
  }
  const MetropolisReport report = metropolis(graph, of_calls(1000)).report;
  EXPECT_EQ(report.spent.calls, num_calls);
  EXPECT_EQ(num_calls, 7 * 9);
  EXPECT_GT(report.num_steps, Budget::kFreeRewards / 2);  // it goes on for nothing, and ends
}

TEST(OneByOne, FunctionsThatCostNothingAreNotAskedForEver) {
  FactorGraph graph;
  for (int v = 0; v < 2; ++v) graph.add_variable(2);
  graph.add_factor(Factor::function(
      {0, 1}, [](std::span<const int> x) { return 0.3 * x[0] * x[1]; }, {}, 0.0));
  const Limits limits{.budget = 1, .unit = BudgetUnit::kCost, .seconds = 20.0};
  EXPECT_EQ(metropolis(graph, limits).report.stop, StopReason::kBudget);
}

TEST(OneByOne, EverythingAskedIsTheBestOfAll) {
  Random random(18);
  for (int trial = 0; trial < 20; ++trial) {
    const FactorGraph model = random_model(
        random, {.num_variables = 3, .min_states = 2, .num_factors = 4, .zero_probability = trial % 2 * 0.5});
    Hidden hidden(model);
    const FrequenciesResult found = best_by_frequencies(hidden.graph, of_calls(10'000));
    EXPECT_TRUE(found.report.is_complete);
    EXPECT_EQ(found.report.stop, StopReason::kConverged);
    const Enumeration exact = enumerate(model);
    const double best = *std::max_element(exact.log_probs.begin(), exact.log_probs.end()) + exact.log_z;
    EXPECT_EQ(found.best.has_value(), exact.log_z != kNegInf);
    EXPECT_NEAR(found.best ? found.best->log_density : 0.0, found.best ? best : 0.0, 1e-9);
  }
}

// The densities differ by less than the rounding of their sums.
TEST(OneByOne, TheErrorOfDensitiesIsReported) {
  FactorGraph graph = testing::variables({2});
  graph.add_table({0}, {1e12, 1e12});
  graph.add_table({0}, {1e-5, 2e-5});
  const FrequenciesResult found = best_by_frequencies(graph, {.budget = 100});
  EXPECT_TRUE(found.report.is_complete);
  EXPECT_GT(found.report.log_error, 1e-5);
}

TEST(OneByOne, SameSeedSameBitsAndOthersDiffer) {
  Random random(19);
  const FactorGraph model = random_model(random, {.num_variables = 7, .min_states = 3, .num_factors = 9});
  const auto walk = [&](std::uint64_t seed) {
    Hidden hidden(model);
    return metropolis(hidden.graph, of_calls(50), {.seed = seed}).approximation.mean_log_density();
  };
  const auto frequent = [&](std::uint64_t seed) {
    Hidden hidden(model);
    static_cast<void>(best_by_frequencies(hidden.graph, of_calls(50), {.seed = seed}));
    return hidden.asked;
  };
  EXPECT_EQ(walk(1), walk(1));
  EXPECT_NE(walk(1), walk(2));
  EXPECT_EQ(frequent(1), frequent(1));
  EXPECT_NE(frequent(1), frequent(2));
}

TEST(OneByOne, RefusalsFailuresAndInterruptions) {
  FactorGraph graph = testing::variables({4, 4});
  graph.add_factor(Factor::function({0, 1}, [](std::span<const int>) { return 0.0; }));
  EXPECT_THROW(metropolis(graph, of_calls(0)), Error);
  EXPECT_THROW(best_by_frequencies(graph, of_calls(0)), Error);
  const Observer stopping{.should_stop = [] { return true; }};
  EXPECT_EQ(metropolis(graph, of_calls(10), {}, stopping).report.stop, StopReason::kInterrupted);
  EXPECT_EQ(best_by_frequencies(graph, of_calls(10), {}, stopping).report.stop, StopReason::kInterrupted);
  EXPECT_TRUE(metropolis(graph, of_calls(10), {}, stopping).approximation.is_empty());
  FactorGraph wrong = testing::variables({2});
  wrong.add_factor(Factor::function({0}, [](std::span<const int>) { return std::nan(""); }));
  EXPECT_THROW(metropolis(wrong, of_calls(10)), Error);
  EXPECT_THROW(best_by_frequencies(wrong, of_calls(10)), Error);
}

TEST(OneByOne, WhereNothingIsPossibleThereIsNoAnswer) {
  FactorGraph graph = testing::variables(3, 2);
  graph.add_factor(Factor::function({0, 1, 2}, [](std::span<const int>) { return kNegInf; }));
  const MetropolisResult walk = metropolis(graph, of_calls(20));
  EXPECT_TRUE(walk.approximation.is_empty());
  EXPECT_FALSE(walk.best);
  EXPECT_FALSE(best_by_frequencies(graph, of_calls(20)).best);
}

}  // namespace
}  // namespace treesample
