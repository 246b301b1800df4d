// Functions over many variables, learned from a few calls: against enumeration, elimination and planted models.
#include "treesample/surrogate/learned_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>
#include <thread>

#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/divergence.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/families/family.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/oracle/oracle_set.hpp"

namespace treesample {
namespace {

// All factors of a model in one function, which records its calls.
struct Hidden {
  FactorGraph model, graph;
  std::shared_ptr<std::vector<Assignment>> calls = std::make_shared<std::vector<Assignment>>();
};

Hidden hide(const FactorGraph& model) {
  Hidden hidden{.model = model};
  std::vector<int> scope;
  for (int v = 0; v < model.num_variables(); ++v) scope.push_back(hidden.graph.add_variable(model.num_states(v)));
  hidden.graph.add_factor(Factor::function(scope, [model, calls = hidden.calls](std::span<const int> x) {
    calls->emplace_back(x.begin(), x.end());
    return model.log_density(x);
  }));
  return hidden;
}

// Pairs of random variables with random values, if wanted with -inf among them.
FactorGraph planted(int num_variables, int num_states, std::uint64_t seed, double zero_probability = 0.0) {
  Random random(seed, "planted");
  FactorGraph graph = testing::variables(num_variables, num_states);
  for (int v = 1; v < num_variables; ++v) {
    std::vector<double> values(static_cast<std::size_t>(num_states) * num_states);
    for (double& value : values) value = random.uniform() < zero_probability ? kNegInf : 1.5 * random.normal();
    graph.add_table({static_cast<int>(random.below(static_cast<std::uint64_t>(v))), v}, values);
  }
  return graph;
}

Limits calls(std::int64_t count) { return {.budget = count, .unit = BudgetUnit::kCall}; }

double kl_of(const LearnedResult& result, const FactorGraph& model) {
  Random random(3, "kl");
  return Elimination(model).log_z() + sampled_divergence(model, *result.approximation, 2000, random).delta_kl;
}

TEST(LearnedSearch, SpendsItsCallsOnDifferentConfigurationsAndNoMore) {
  for (const std::int64_t count : {1, 2, 19, 100}) {
    const Hidden hidden = hide(planted(8, 3, 1));
    const LearnedResult result = learned_search(hidden.graph, calls(count));
    EXPECT_EQ(std::ssize(*hidden.calls), count);
    EXPECT_EQ(result.report.spent.calls, count);
    EXPECT_EQ(std::set(hidden.calls->begin(), hidden.calls->end()).size(), hidden.calls->size());
    EXPECT_EQ(result.report.stop, StopReason::kBudget);
    EXPECT_LE(result.report.log_z.lower, Elimination(hidden.model).log_z());
  }
}

// 300 of 9.8 million configurations are evaluated; the pairs are unknown.
TEST(LearnedSearch, FindsTheChainInAFunction) {
  for (const char* const family : {"chain", "permuted-chain"}) {
    const Hidden hidden = hide(make_family(family, {.seed = 0, .instance = 0}).graph);
    const LearnedResult result = learned_search(hidden.graph, calls(300));
    EXPECT_LT(kl_of(result, hidden.model), 0.02) << family;
    ASSERT_TRUE(result.report.errors);
    EXPECT_EQ(result.report.errors->no_error, "");
    EXPECT_LE(result.report.errors->interval.lower, Elimination(hidden.model).log_z());
    EXPECT_GE(result.report.errors->interval.upper, Elimination(hidden.model).log_z());
  }
}

TEST(LearnedSearch, EverythingAskedIsExact) {
  const Hidden hidden = hide(planted(5, 2, 4, 0.1));
  const LearnedResult result = learned_search(hidden.graph, calls(1000));
  const double log_z = enumerate(hidden.model).log_z;
  EXPECT_EQ(result.report.spent.calls, 32);
  EXPECT_EQ(result.report.stop, StopReason::kExact);
  EXPECT_TRUE(result.report.log_z.is_exact());
  EXPECT_LE(result.report.log_z.lower, log_z);
  EXPECT_GE(result.report.log_z.upper, log_z);
  const Marginals truth = enumerate(hidden.model).marginals;
  for (std::size_t v = 0; v < truth.size(); ++v) {
    for (std::size_t a = 0; a < truth[v].size(); ++a) EXPECT_NEAR(result.marginals[v][a], truth[v][a], 1e-9);
  }
  EXPECT_GE(result.log_most.value(), result.best->log_density);
  EXPECT_NEAR(result.log_most.value(), result.best->log_density, 1e-12);
}

TEST(LearnedSearch, ImpossibleStatesAreLearnedToo) {
  int num_possible = 0;  // of 6000; one model in ten is learned too late
  for (const std::uint64_t seed : {0, 1, 2, 3, 4, 5}) {
    const Hidden hidden = hide(planted(12, 3, seed, 0.1));
    const LearnedResult result = learned_search(hidden.graph, calls(600));
    Random random(1, "samples");
    for (int i = 0; i < 1000; ++i)
      num_possible += hidden.model.log_density(result.approximation->sample(random)) != kNegInf ? 1 : 0;
  }
  EXPECT_GT(num_possible, 5000);
}

TEST(LearnedSearch, AllImpossibleIsAnAnswer) {
  FactorGraph model = testing::variables(12, 3);
  model.add_table({0}, {kNegInf, kNegInf, kNegInf});
  const LearnedResult result = learned_search(hide(model).graph, calls(50));
  EXPECT_FALSE(result.best);
  EXPECT_EQ(result.report.log_z.lower, kNegInf);
}

// 2^40 configurations, compared by samples of both models.
TEST(LearnedSearch, FindsAPlantedModelOfFortyVariables) {
  const Hidden hidden = hide(planted(40, 2, 5));
  const LearnedResult result = learned_search(hidden.graph, calls(600));
  EXPECT_LT(kl_of(result, hidden.model), 0.2);
  const Elimination truth(hidden.model);
  EXPECT_NEAR(result.report.estimate, truth.log_z(), 0.3);
}

// 4^40 configurations and 471 numbers to learn: main effects and 39 of 780 pairs.
TEST(LearnedSearch, FindsAPlantedModelOfFortyVariablesWithFourStates) {
  const Hidden hidden = hide(planted(40, 4, 5));
  const LearnedResult result = learned_search(hidden.graph, calls(2000));
  EXPECT_LT(kl_of(result, hidden.model), 0.05);
  const Elimination truth(hidden.model);
  EXPECT_NEAR(result.report.estimate, truth.log_z(), 0.3);
  // Samples of both have the same frequencies: 2000 of each, 5 standard deviations for 160 frequencies.
  Random random(4, "samples");
  const Marginals expected = truth.marginals();
  Marginals found = expected;
  for (std::vector<double>& frequencies : found) std::fill(frequencies.begin(), frequencies.end(), 0.0);
  for (int i = 0; i < 2000; ++i) {
    const Assignment x = result.approximation->sample(random);
    for (std::size_t v = 0; v < x.size(); ++v) found[v][x[v]] += 1.0 / 2000;
  }
  for (std::size_t v = 0; v < found.size(); ++v) {
    for (std::size_t a = 0; a < found[v].size(); ++a)
      EXPECT_NEAR(found[v][a], expected[v][a], 5.0 * 0.5 / std::sqrt(2000.0));
  }
}

// A larger budget evaluates what a smaller one does, and more, also where the model has more effects than calls.
TEST(LearnedSearch, ALargerBudgetAsksTheSameFirst) {
  const Hidden few = hide(planted(20, 4, 7)), many = hide(planted(20, 4, 7));
  learned_search(few.graph, calls(60), {.error_share = 0.0});
  learned_search(many.graph, calls(120), {.error_share = 0.0});
  EXPECT_TRUE(std::equal(few.calls->begin(), few.calls->end(), many.calls->begin()));
}

TEST(LearnedSearch, TablesAreKnownAndOnlyFunctionsAreAsked) {
  FactorGraph graph = planted(10, 3, 6, 0.2);
  FactorGraph model = graph;
  const std::vector<int> scope = testing::integers(10);
  const auto likelihood = [](std::span<const int> x) { return 0.7 * (x[0] == x[9]) - 0.4 * x[4]; };
  std::int64_t num_calls = 0;
  graph.add_factor(Factor::function(scope, [&](std::span<const int> x) {
    ++num_calls;
    EXPECT_NE(model.log_density(x), kNegInf);  // tables are read first
    return likelihood(x);
  }));
  const LearnedResult result = learned_search(graph, calls(150));
  EXPECT_EQ(num_calls, 150);
  FactorGraph whole = model;
  whole.add_table({0, 9}, {0.7, 0, 0, 0, 0.7, 0, 0, 0, 0.7});
  whole.add_table({4}, {0.0, -0.4, -0.8});
  EXPECT_LT(kl_of(result, whole), 0.05);
}

// A function with nine states becomes a table once it is evaluated; the other one has 3^8.
TEST(LearnedSearch, SmallFunctionsAreTrueWhereTheyWereAsked) {
  FactorGraph graph, model;
  for (int v = 0; v < 10; ++v) {
    graph.add_variable(3);
    model.add_variable(3);
  }
  std::vector<double> small(9);
  for (int i = 0; i < 9; ++i) small[i] = std::sin(5.0 * i);
  int num_small = 0;
  graph.add_factor(Factor::function({8, 9}, [&](std::span<const int> x) {
    ++num_small;
    return small[3 * x[0] + x[1]];
  }));
  graph.add_factor(
      Factor::function({0, 1, 2, 3, 4, 5, 6, 7}, [](std::span<const int> x) { return -0.5 * x[0] * x[7]; }));
  model.add_table({8, 9}, small);
  model.add_table({0, 7}, {0, 0, 0, 0, -0.5, -1, 0, -1, -2});
  const LearnedResult result = learned_search(graph, calls(120));
  EXPECT_EQ(num_small, 9);
  EXPECT_LE(result.report.spent.calls, 120);
  EXPECT_GE(result.report.spent.calls, 119);
  EXPECT_LT(kl_of(result, model), 0.02);
}

TEST(LearnedSearch, TheSameSeedGivesTheSameBits) {
  const auto run = [](std::uint64_t seed) {
    const Hidden hidden = hide(planted(10, 3, 7));
    const double estimate = learned_search(hidden.graph, calls(120), {.seed = seed}).report.estimate;
    return std::pair(*hidden.calls, estimate);
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1).first, run(2).first);
}

// Workers that are sometimes slow; answers are used in the order of submission.
TEST(LearnedSearch, ManyWorkersInTheOrderOfSubmissionGiveTheSameBits) {
  const auto run = [](int milliseconds) {
    const FactorGraph model = planted(9, 3, 8);
    FactorGraph graph = testing::variables(9, 3);
    const std::vector<int> scope = testing::integers(9);
    graph.add_factor(Factor::function(scope, [&model, milliseconds](std::span<const int> x) {
      if ((x[0] + x[3]) % 3 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      return model.log_density(x);
    }));
    OracleSet set(graph, "1", {.num_workers = 4});
    const LearnedResult result = learned_search(set.graph(), calls(100), {.answer_order = AnswerOrder::kSubmission});
    EXPECT_EQ(set.counts().front().paid, 100);
    return result.report.estimate;
  };
  EXPECT_EQ(run(0), run(2));
}

TEST(LearnedSearch, TheBestConfigurationIsFoundByFewCalls) {
  const Hidden hidden = hide(planted(14, 3, 9));
  const LearnedResult result = learned_search(hidden.graph, calls(400), {.wants_best = true});
  double most = kNegInf;
  Random random(2, "samples");
  const Elimination truth(hidden.model);
  for (int i = 0; i < 20'000; ++i) most = std::max(most, hidden.model.log_density(truth.sample(random)));
  EXPECT_GE(result.best->log_density, most - 1e-12);
  EXPECT_EQ(result.best->log_density, hidden.model.log_density(result.best->x));
  EXPECT_EQ(result.report.best_by_calls.back().second, result.best->log_density);
  EXPECT_FALSE(result.log_most);
}

// The declared maximum is reached, so nothing can be better.
TEST(LearnedSearch, AReachedMaximumProvesTheBest) {
  FactorGraph graph = testing::variables(12, 2);
  const std::vector<int> scope = testing::integers(12);
  const auto ones = [](std::span<const int> x) { return -static_cast<double>(std::count(x.begin(), x.end(), 0)); };
  graph.add_factor(Factor::function(scope, ones, 0.0));
  const LearnedResult result = learned_search(graph, calls(100), {.wants_best = true});
  EXPECT_EQ(result.best->log_density, 0.0);
  ASSERT_TRUE(result.log_most);
  EXPECT_NEAR(*result.log_most, 0.0, 1e-12);
  EXPECT_GE(*result.log_most, 0.0);
  const double log_z = 12.0 * std::log1p(std::exp(-1.0));
  EXPECT_LE(result.report.log_z.lower, log_z);
  EXPECT_GE(result.report.log_z.upper, log_z);
}

TEST(LearnedSearch, AFunctionThatFailsEndsItWithWhatThereIs) {
  FactorGraph graph = testing::variables(9, 3);
  const std::vector<int> scope = testing::integers(9);
  int calls_left = 0;
  graph.add_factor(Factor::function(scope, [&](std::span<const int>) -> double {
    return --calls_left == 0 ? throw std::runtime_error("the solver diverged") : 0.0;
  }));
  for (const int last : {40, 95}) {  // of the search, and of the samples for errors
    OracleSet set(graph, "1", {});
    calls_left = last;
    const LearnedResult result = learned_search(set.graph(), calls(100));
    EXPECT_TRUE(result.report.stop == StopReason::kFactorFailed && result.report.error && result.approximation);
    EXPECT_EQ(result.report.num_asked, last - 1);
  }
}

TEST(LearnedSearch, AnInterruptionEndsItWithWhatThereIs) {
  const Hidden hidden = hide(planted(10, 3, 3));
  int num_asked = 0;
  const LearnedResult result =
      learned_search(hidden.graph, calls(1000), {}, {.should_stop = [&] { return ++num_asked > 60; }});
  EXPECT_EQ(result.report.stop, StopReason::kInterrupted);
  EXPECT_GT(result.report.num_asked, 0);
  EXPECT_LT(result.report.num_asked, 100);
}

TEST(LearnedSearch, ValuesOfAnySizeAreLegal) {
  FactorGraph graph = testing::variables(9, 3);
  const std::vector<int> scope = testing::integers(9);
  graph.add_factor(Factor::function(scope, [](std::span<const int> x) {
    return x[0] == 0 ? -1e300 : x[1] == 0 ? kNegInf : 1e6 * x[2] - 3.0 * (x[3] == x[4]);
  }));
  const LearnedResult result = learned_search(graph, calls(200));
  EXPECT_FALSE(std::isnan(result.report.estimate));
  EXPECT_GT(result.report.estimate, 1.9e6);
  Random random(1, "samples");
  const Assignment x = result.approximation->sample(random);
  EXPECT_FALSE(std::isnan(result.approximation->log_prob(x)));
}

TEST(LearnedSearch, OneConfigurationAndNoFunctionAreLegal) {
  FactorGraph one = testing::variables({1});
  one.add_factor(Factor::function({0}, [](std::span<const int>) { return 0.5; }));
  const LearnedResult result = learned_search(one, calls(10));
  EXPECT_EQ(result.report.stop, StopReason::kExact);
  EXPECT_NEAR(result.report.estimate, 0.5, 1e-12);
  const LearnedResult tables = learned_search(planted(3, 2, 1), calls(10));
  EXPECT_NEAR(tables.report.estimate, Elimination(planted(3, 2, 1)).log_z(), 1e-9);
}

TEST(LearnedSearch, TablesThatAreTooWideAreRefused) {
  FactorGraph graph = testing::variables(30, 2);
  const std::vector<int> scope = testing::integers(30);
  for (int a = 0; a < 30; ++a) {
    for (int b = a + 1; b < 30; ++b) graph.add_table({a, b}, {0.0, 0.1, 0.2, 0.3});
  }
  graph.add_factor(Factor::function(scope, [](std::span<const int>) { return 0.0; }));
  EXPECT_FALSE(states_to_learn(graph, 1));
  EXPECT_THROW(learned_search(graph, calls(10)), Error);
  EXPECT_THROW(learned_search(graph, calls(10), {.error_share = 1.5}), Error);
}

// Blocks of variables that ascend within a block: 7^4 configurations of 2^24 are possible.
TEST(LearnedSearch, ExactIsSaidOnlyWhenEverythingWasAsked) {
  constexpr int kBlock = 6, kNumPossible = 2401;
  FactorGraph graph;
  std::vector<int> scope;
  for (int v = 0; v < 4 * kBlock; ++v) scope.push_back(graph.add_variable(2));
  for (int v = 1; v < 4 * kBlock; ++v) {
    if (v % kBlock != 0) graph.add_table({v - 1, v}, {0.0, 0.0, kNegInf, 0.0});
  }
  int num_calls = 0;
  graph.add_factor(Factor::function(scope, [&](std::span<const int>) { return ++num_calls, 0.0; }));
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    num_calls = 0;
    const LearnedResult result = learned_search(graph, calls(10'000), {.seed = seed, .error_share = 0.0});
    EXPECT_EQ(result.report.stop, StopReason::kExact);
    EXPECT_EQ(num_calls, kNumPossible);
    EXPECT_GE(result.report.log_z.upper, std::log(kNumPossible));
    EXPECT_LE(result.report.log_z.lower, std::log(kNumPossible));
  }
}

// A table and a function cancel where the learned model has nearly all of its mass.
TEST(LearnedSearch, ExactMarginalsAreSumsOfWhatWasAsked) {
  constexpr double kLarge = 100.0;
  constexpr int kNumVariables = 13;  // with fewer the function is learned as a table
  FactorGraph graph = testing::variables(kNumVariables, 2);
  const std::vector<int> scope = testing::integers(kNumVariables);
  std::vector<double> peak(256, 0.0);
  peak[0] = kLarge;
  graph.add_table({0, 1, 2, 3, 4, 5, 6, 7}, peak);
  graph.add_factor(Factor::function(scope, [](std::span<const int> x) {
    const bool is_peak = std::all_of(x.begin(), x.begin() + 8, [](int state) { return state == 0; });
    return (is_peak ? -2.0 * kLarge : 0.0) - 0.3 * x[0] + 0.2 * x[1] * x[2];
  }));
  const LearnedResult result = learned_search(graph, calls(100'000), {.error_share = 0.0});
  ASSERT_EQ(result.report.stop, StopReason::kExact);
  const Marginals truth = enumerate(graph).marginals;
  for (int v = 0; v < kNumVariables; ++v) EXPECT_NEAR(result.marginals[v][0], truth[v][0], 1e-9) << v;
}

// Nearly all of Z is one configuration, as its declared maximum proves; the others were learned far too large.
TEST(LearnedSearch, MarginalsBesideExactBoundsAreSumsOfWhatWasAsked) {
  constexpr int kNumVariables = 6;
  int num_exact = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed, "declared");
    FactorGraph graph = testing::variables(kNumVariables, 2);
    const std::vector<int> scope = testing::integers(kNumVariables);
    for (const int v : scope) graph.add_table({v}, {0.0, -30.0 * (0.5 + random.uniform())});
    std::vector<double> values = {0.0};
    while (values.size() < (1U << kNumVariables)) values.push_back(-200.0 * random.uniform());
    const auto value = [values](std::span<const int> x) {
      return values[std::accumulate(x.begin(), x.end(), std::size_t{0}, [](auto at, int s) { return 2 * at + s; })];
    };
    graph.add_factor(Factor::function(scope, value, 0.0));
    const LearnedResult result = learned_search(graph, calls(8), {.seed = seed, .error_share = 0.0});
    if (!result.report.log_z.is_exact() || result.marginals.empty()) continue;
    ++num_exact;
    const Marginals truth = enumerate(graph).marginals;
    for (const int v : scope) EXPECT_NEAR(result.marginals[v][0], truth[v][0], LogBounds::kExact) << seed;
  }
  EXPECT_GT(num_exact, 0);
}

}  // namespace
}  // namespace treesample
