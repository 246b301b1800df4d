// log Z from values that are known already, against sums over all configurations.
#include "treesample/surrogate/value_estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "support/random_models.hpp"
#include "treesample/baselines/metropolis.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

using testing::random_model;

Factor unasked(const std::vector<int>& scope) {
  return Factor::function(scope, [](std::span<const int>) -> double { throw std::logic_error("it was called"); });
}

Assignment uniform(const FactorGraph& graph, Random& random) {
  Assignment x;
  for (int v = 0; v < graph.num_variables(); ++v) x.push_back(static_cast<int>(random.below(graph.num_states(v))));
  return x;
}

// Tables, and other factors hidden in one function of all variables.
struct Hidden {
  Hidden(Random& random, int num_variables, double zeros) {
    hidden = random_model(random, {.num_variables = num_variables,
                                   .min_states = 3,
                                   .max_states = 3,
                                   .num_factors = num_variables,
                                   .max_arity = 2,
                                   .zero_probability = zeros});
    std::vector<int> scope;
    for (int v = 0; v < num_variables; ++v) scope.push_back(graph.add_variable(3));
    graph.add_table({0, 1}, {0, 1, 2, 0, -1, 0, 0.5, 0, 0});
    whole = hidden;
    whole.add_table({0, 1}, {0, 1, 2, 0, -1, 0, 0.5, 0, 0});
    graph.add_factor(unasked(scope));
  }
  void ask(Random& random, int count) {
    std::set<Assignment> known;
    while (std::ssize(values) < count) {
      Assignment x = uniform(graph, random);
      if (known.insert(x).second) values.push_back({1, x, hidden.log_density(x)});
    }
  }
  [[nodiscard]] double log_known(std::size_t count) const {
    std::vector<double> densities;
    for (std::size_t i = 0; i < count; ++i) densities.push_back(whole.log_density(values[i].states));
    return log_sum_exp(densities);
  }
  FactorGraph hidden, whole, graph;
  std::vector<PaidValue> values;
};

TEST(ValueEstimate, PairsAreLearnedAndTheKnownMassIsTheirSum) {
  Random random(71);
  for (int trial = 0; trial < 5; ++trial) {
    Hidden problem(random, 8, 0.0);
    problem.ask(random, 500);
    const ValueEstimate estimate = estimate_from_values(problem.graph, problem.values);
    ASSERT_TRUE(estimate.no_estimate.empty()) << estimate.no_estimate;
    ASSERT_GE(estimate.steps.size(), 5u);
    EXPECT_EQ(estimate.steps.back().num_values, 500);
    EXPECT_NEAR(estimate.steps.back().log_z, enumerate(problem.whole).log_z, 1e-3);
    EXPECT_LT(estimate.spread, 1e-2);
    EXPECT_FALSE(estimate.is_exact);
    for (const ValueEstimate::Step& step : estimate.steps) {
      const double known = problem.log_known(static_cast<std::size_t>(step.num_values));
      EXPECT_LE(*step.log_known, known);
      EXPECT_NEAR(*step.log_known, known, 1e-9);
      EXPECT_GE(step.log_z, *step.log_known);
    }
  }
}

// Where values were chosen for being large, some determine an effect alone and could not be predicted without
// themselves: that must not shrink the other effects. What no value tells about a pair leaves an error of 0.0013 at
// most.
TEST(ValueEstimate, ValuesOfAChainTellThePairs) {
  const auto truth = [](std::span<const int> x) {
    double sum = 0.4 * x[0] * x[7] - (x[3] == 2 ? 1.5 : 0.0);
    for (int v = 1; v < 8; ++v) sum -= 0.7 * (x[v] - x[v - 1]) * (x[v] - x[v - 1]);
    return sum;
  };
  FactorGraph graph = testing::variables(8, 4);
  const std::vector<int> scope = testing::integers(8);
  std::vector<PaidValue> values;
  graph.add_factor(Factor::function(scope, [&](std::span<const int> x) {
    values.push_back({0, {x.begin(), x.end()}, truth(x)});
    return truth(x);
  }));
  const double log_z = enumerate(graph).log_z;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    values.clear();
    Random random(seed, "first");
    for (int i = 0; i < 60; ++i) static_cast<void>(graph.log_density(uniform(graph, random)));
    static_cast<void>(metropolis(graph, {.budget = 340, .unit = BudgetUnit::kCall}, {.seed = seed}));
    const std::vector<PaidValue> known = values;
    EXPECT_NEAR(estimate_from_values(graph, known, {.num_steps = 1}).steps.back().log_z, log_z, 3e-3) << seed;
  }
}

TEST(ValueEstimate, EverythingKnownIsExactAlsoWithZeros) {
  Random random(72);
  for (int trial = 0; trial < 10; ++trial) {
    Hidden problem(random, 4, trial % 2 * 0.3);
    problem.ask(random, 81);
    const double log_z = enumerate(problem.whole).log_z;
    const ValueEstimate estimate = estimate_from_values(problem.graph, problem.values, {.num_steps = 1});
    if (log_z == kNegInf) {
      EXPECT_EQ(estimate.no_estimate, "nothing possible is among the values");
      continue;
    }
    ASSERT_EQ(estimate.steps.size(), 1u);
    EXPECT_TRUE(estimate.is_exact);
    EXPECT_EQ(estimate.spread, 0.0);
    EXPECT_NEAR(estimate.steps[0].log_z, log_z, 1e-9);
    EXPECT_NEAR(*estimate.steps[0].log_known, log_z, 1e-9);
    EXPECT_LE(*estimate.steps[0].log_known, log_z);
  }
}

// A ring of functions of two variables, each evaluated at some of its states.
TEST(ValueEstimate, OfSmallFunctionsWhatIsKnownEverywhereIsSummed) {
  Random random(73);
  for (int trial = 0; trial < 10; ++trial) {
    FactorGraph graph, known;
    std::vector<PaidValue> values;
    for (int v = 0; v < 5; ++v) {
      graph.add_variable(3);
      known.add_variable(3);
    }
    std::int64_t num_unknown = 0;
    for (int v = 0; v < 5; ++v) {
      const std::vector<int> scope{v, (v + 1) % 5};
      graph.add_factor(unasked(scope));
      std::vector<double> table(9, kNegInf);
      for (int i = 0; i < 9; ++i) {
        num_unknown += 1;
        if (trial > 0 && random.uniform() < 0.25) continue;
        num_unknown -= 1;
        table[i] = random.normal();
        values.push_back({v, {i / 3, i % 3}, table[i]});
      }
      known.add_table(scope, table);
    }
    const ValueEstimate estimate = estimate_from_values(graph, values, {.num_steps = 3});
    ASSERT_TRUE(estimate.no_estimate.empty()) << estimate.no_estimate;
    EXPECT_NEAR(*estimate.steps.back().log_known, enumerate(known).log_z, 1e-9);
    EXPECT_GE(estimate.steps.back().log_z, *estimate.steps.back().log_known - 1e-12);
    EXPECT_EQ(estimate.is_exact, num_unknown == 0);
    if (num_unknown == 0) {
      EXPECT_NEAR(estimate.steps.back().log_z, *estimate.steps.back().log_known, 1e-9);
    }
  }
}

TEST(ValueEstimate, SaysWhyThereIsNone) {
  FactorGraph graph = testing::variables(16, 2);
  std::vector<int> most;
  for (int v = 0; v < 14; ++v) most.push_back(v);
  graph.add_factor(unasked(most));
  std::vector<PaidValue> values{{0, std::vector<int>(14, 0), 0.0}, {0, std::vector<int>(14, 1), 1.0}};
  EXPECT_NE(estimate_from_values(graph, values).no_estimate, "");
  for (int v = 0; v < 14; ++v) {
    values.push_back({0, std::vector<int>(14, 0), 0.5});
    values.back().states[v] = 1;
  }
  const ValueEstimate estimate = estimate_from_values(graph, values);
  EXPECT_EQ(estimate.no_estimate, "");
  EXPECT_NE(estimate.no_known, "");
  EXPECT_FALSE(estimate.steps.back().log_known);
  const ValueEstimate stopped = estimate_from_values(graph, values, {}, [] { return true; });
  EXPECT_TRUE(stopped.steps.empty());
  EXPECT_NE(stopped.no_estimate, "");
  EXPECT_THROW(estimate_from_values(graph, std::vector<PaidValue>{{1, {0}, 0.0}}), Error);
  EXPECT_THROW(estimate_from_values(graph, std::vector<PaidValue>{{0, {0}, 0.0}}), Error);
  EXPECT_THROW(estimate_from_values(graph, std::vector<PaidValue>{{0, std::vector<int>(14, 2), 0.0}}), Error);
}

TEST(ValueEstimate, LargeValuesThatCancelLeaveALowerBound) {
  for (const double rest : {0.1, 0.2, 0.3, 0.7}) {
    FactorGraph graph = testing::variables({2});
    graph.add_table({0}, {rest, rest});
    const int up = graph.add_factor(unasked({0})), down = graph.add_factor(unasked({0}));
    const std::vector<PaidValue> values = {{up, {0}, 1e6}, {down, {0}, -1e6}, {up, {1}, 1e6}, {down, {1}, -1e6}};
    const ValueEstimate estimate = estimate_from_values(graph, values);
    EXPECT_TRUE(estimate.is_exact);
    const long double log_z = rest + std::log(2.0L);
    EXPECT_LE(static_cast<long double>(estimate.steps.back().log_known.value()), log_z);
    EXPECT_NEAR(estimate.steps.back().log_known.value(), static_cast<double>(log_z), 1e-8);
  }
}

// In the learned model the fifth state has a probability that underflows.
TEST(ValueEstimate, WhatIsImprobableIsNotKnown) {
  FactorGraph graph = testing::variables({5});
  graph.add_table({0}, {0.0, 0.0, 0.0, 0.0, -1000.0});
  const int m = graph.add_factor(unasked({0}));
  const std::vector<PaidValue> values = {{m, {0}, 0.0}, {m, {1}, 0.0}, {m, {2}, 0.0}, {m, {3}, 0.0}};
  EXPECT_FALSE(estimate_from_values(graph, values).is_exact);
}

}  // namespace
}  // namespace treesample
