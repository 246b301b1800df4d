// Expensive functions over many variables: how the search by mass calls them and spends its budget.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <set>

#include "support/random_models.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/oracle/oracle_set.hpp"
#include "treesample/search/search.hpp"
#include "treesample/search/search_approximation.hpp"

namespace treesample {
namespace {

constexpr SpaceKind kSpaces[] = {SpaceKind::kTree, SpaceKind::kGraph, SpaceKind::kAndOr};

// A function of the sum of all states that records its calls.
struct Simulator {
  FactorGraph graph;
  std::shared_ptr<std::vector<std::vector<int>>> calls = std::make_shared<std::vector<std::vector<int>>>();
};

double log_value(std::span<const int> states) {
  const double sum = std::accumulate(states.begin(), states.end(), 0.0);
  return -0.5 * (sum - 5.0) * (sum - 5.0);
}

enum class Tables { kNone, kEqual, kSkewed };

Simulator simulator(int num_variables, int num_states, Tables tables) {
  Simulator model;
  std::vector<int> scope;
  for (int v = 0; v < num_variables; ++v) {
    scope.push_back(model.graph.add_variable(num_states));
    std::vector<double> values(num_states, std::log(0.5));
    if (tables == Tables::kSkewed) values[0] = std::log(0.8);
    if (tables != Tables::kNone) model.graph.add_table({v}, values);
  }
  model.graph.add_factor(Factor::function(scope, [calls = model.calls](std::span<const int> states) {
    calls->emplace_back(states.begin(), states.end());
    return log_value(states);
  }));
  return model;
}

SearchResult search(const FactorGraph& graph, SpaceKind kind, const Limits& limits, SearchOptions options = {}) {
  options.select = SelectRule::kMass;
  const SearchSpace space = make_search_space(graph, search_order(graph, kind, {.kind = OrderKind::kGiven}), kind);
  return search(graph, space, {}, limits, options);
}

TEST(CallSearch, AFunctionOfAllVariablesIsAskedAsOftenAsTheBudgetAllows) {
  for (const auto& [num_variables, num_states] : {std::pair{16, 2}, {25, 2}, {10, 3}, {200, 2}}) {
    for (const Tables tables : {Tables::kNone, Tables::kEqual, Tables::kSkewed}) {
      for (const SpaceKind kind : kSpaces) {
        const Simulator model = simulator(num_variables, num_states, tables);
        const SearchReport report = search(model.graph, kind, {.budget = 301, .unit = BudgetUnit::kCall}).report;
        EXPECT_EQ(report.stop, StopReason::kBudget);
        EXPECT_EQ(report.spent.calls, static_cast<std::int64_t>(model.calls->size()));
        EXPECT_EQ(report.spent.calls, 301 / num_states * num_states) << num_variables << " variables";
        // No more nodes than on the paths to the calls.
        EXPECT_LE(report.num_nodes, 301U * num_states * static_cast<unsigned>(num_variables));
        EXPECT_EQ(std::set(model.calls->begin(), model.calls->end()).size(), model.calls->size());
      }
    }
  }
}

TEST(CallSearch, LevelsWithoutFactorsAreNotCountedInAnyUnit) {
  for (const BudgetUnit unit : {BudgetUnit::kReward, BudgetUnit::kFactor, BudgetUnit::kCall}) {
    const Simulator model = simulator(16, 2, Tables::kNone);
    const SearchReport report = search(model.graph, SpaceKind::kAndOr, {.budget = 100, .unit = unit}).report;
    EXPECT_EQ(model.calls->size(), 100U);
    EXPECT_EQ(report.spent.reward_evaluations, 100);
  }
}

TEST(CallSearch, ManyFunctionsWithEmptyLevelsBetweenAreAsked) {
  FactorGraph graph;
  int num_calls = 0;
  for (int v = 0; v < 24; ++v) graph.add_variable(2);
  for (int first = 0; first < 24; first += 8) {
    std::vector<int> scope(8);
    std::iota(scope.begin(), scope.end(), first);
    graph.add_factor(Factor::function(scope, [&](std::span<const int> states) {
      ++num_calls;
      return log_value(states);
    }));
  }
  for (const SpaceKind kind : kSpaces) {
    num_calls = 0;
    const SearchReport report = search(graph, kind, {.budget = 400, .unit = BudgetUnit::kCall}).report;
    EXPECT_EQ(num_calls, 400);
    EXPECT_EQ(report.spent.calls, 400);
    // In `tree`, without contexts, all 400 calls are spent on the first two functions.
    EXPECT_EQ(std::isfinite(report.log_z.lower), kind != SpaceKind::kTree);
  }
}

TEST(CallSearch, TheSeedDecidesWhatIsAsked) {
  const auto calls = [](std::uint64_t seed) {
    const Simulator model = simulator(16, 2, Tables::kNone);
    search(model.graph, SpaceKind::kAndOr, {.budget = 60, .unit = BudgetUnit::kCall}, {.seed = seed});
    return *model.calls;
  };
  EXPECT_EQ(calls(1), calls(1));
  EXPECT_NE(calls(1), calls(2));
}

// Dives that always took the lowest of equal states would see sums of 0 and 1 first: log Z would be about -2.
TEST(CallSearch, TheEstimateOfLogZComesFromAllOverTheModel) {
  const double log_z = enumerate(simulator(16, 2, Tables::kNone).graph).log_z;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Simulator model = simulator(16, 2, Tables::kNone);
    const SearchReport report =
        search(model.graph, SpaceKind::kAndOr, {.budget = 1000, .unit = BudgetUnit::kCall}, {.seed = seed}).report;
    EXPECT_NEAR(report.estimate, log_z, 0.5);
    EXPECT_LE(report.log_z.lower, log_z);
  }
}

// Pairs of neighbours: in the space `tree` each is evaluated again and again, but a queue pays once.
FactorGraph chain_of_functions(int* num_calls) {
  FactorGraph graph = testing::variables(6, 3);
  for (int v = 1; v < 6; ++v) {
    graph.add_factor(Factor::function({v - 1, v}, [num_calls](std::span<const int> states) {
      ++*num_calls;
      return 0.3 * states[0] - 0.2 * states[1];
    }));
  }
  return graph;
}

TEST(CallSearch, WhatAQueueHasAnsweredIsNoCallAnyMore) {
  int num_calls = 0;
  const FactorGraph functions = chain_of_functions(&num_calls);
  for (const int budget : {45, 44, 7, 2}) {  // there are 5 x 9 different calls
    num_calls = 0;
    OracleSet oracles(functions, "1", {});
    const SearchReport report =
        search(oracles.graph(), SpaceKind::kTree, {.budget = budget, .unit = BudgetUnit::kCall}).report;
    EXPECT_EQ(report.spent.calls, num_calls);
    EXPECT_EQ(report.stop, budget == 45 ? StopReason::kExact : StopReason::kBudget);
    EXPECT_EQ(num_calls, budget / 3 * 3);
  }
}

TEST(CallSearch, SeveralWorkersNeverExceedTheBudget) {
  for (const int num_workers : {1, 3, 8}) {
    for (const AnswerOrder order : {AnswerOrder::kArrival, AnswerOrder::kSubmission}) {
      FactorGraph graph = simulator(12, 2, Tables::kSkewed).graph;
      // The simulator that records its calls is made for one thread.
      FactorGraph quiet = testing::variables(12, 2);
      for (int v = 0; v < 12; ++v) quiet.add_factor(graph.factor(v));
      quiet.add_factor(Factor::function(graph.factor(12).scope(), log_value));
      OracleSet oracles(quiet, "1", {.num_workers = num_workers});
      const SearchReport report = search(oracles.graph(), SpaceKind::kAndOr, {.budget = 101, .unit = BudgetUnit::kCall},
                                         {.answer_order = order})
                                      .report;
      EXPECT_EQ(report.spent.calls, 100);
      EXPECT_EQ(oracles.counts()[0].paid, 100);
    }
  }
}

// A budget that pays for all possible calls does not keep the search running for ever.
TEST(CallSearch, EndsWhenNothingIsLeftToAsk) {
  FactorGraph functions = testing::variables(40, 2);
  for (int v = 0; v < 40; ++v) {
    for (const int w : {v + 1, v + 7}) {
      if (w < 40)
        functions.add_factor(
            Factor::function({v, w}, [](std::span<const int> states) { return states[0] == states[1] ? 0.5 : 0.0; }));
    }
  }
  OracleSet oracles(functions, "1", {});
  const SearchReport report =
      search(oracles.graph(), SpaceKind::kTree, {.budget = 1000, .unit = BudgetUnit::kCall}).report;
  EXPECT_EQ(report.stop, StopReason::kBudget);
  EXPECT_LE(report.spent.calls, 4 * functions.num_factors());
  EXPECT_LE(report.spent.reward_evaluations, 3 * Budget::kFreeRewards);
}

}  // namespace
}  // namespace treesample
