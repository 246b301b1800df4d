// Searches with several evaluations under way, against the sequential search and against enumeration.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <thread>

#include "support/configurations.hpp"
#include "support/random_models.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/oracle/oracle_set.hpp"
#include "treesample/search/search.hpp"
#include "treesample/search/search_approximation.hpp"

namespace treesample {
namespace {

using testing::for_each_configuration;

constexpr SpaceKind kSpaces[] = {SpaceKind::kTree, SpaceKind::kGraph, SpaceKind::kAndOr};
constexpr SelectRule kRules[] = {SelectRule::kGap, SelectRule::kQUct, SelectRule::kMass};
constexpr AnswerOrder kOrders[] = {AnswerOrder::kArrival, AnswerOrder::kSubmission};
constexpr int kNumTrials = 8;

// Tables and functions; some configurations are impossible. The time of a function differs from call to call.
FactorGraph model_of_trial(int trial) {
  testing::RandomModelOptions options{.num_variables = 4 + trial % 2,
                                      .min_states = 2,
                                      .max_states = 2 + trial % 3,
                                      .num_factors = 5 + trial % 3,
                                      .zero_probability = trial % 3 == 0 ? 0.2 : 0.0,
                                      .function_probability = 0.6};
  Random random(trial, "model");
  const FactorGraph model = testing::random_model(random, options);
  FactorGraph slow;
  for (int v = 0; v < model.num_variables(); ++v) slow.add_variable(model.variable(v));
  for (const Factor& factor : model.factors()) {
    if (factor.is_table()) {
      slow.add_factor(factor);
      continue;
    }
    auto count = std::make_shared<std::atomic<int>>(0);
    slow.add_factor(Factor::function(
        factor.scope(),
        [function = factor.function(), count](std::span<const int> states) {
          std::this_thread::sleep_for(std::chrono::microseconds(*count = (*count * 7 + 13) % 50));
          return function(states);
        },
        factor.log_max(), factor.log_max().value_or(0.0) > 0.5 ? std::optional(0.25) : std::nullopt));
  }
  return slow;
}

struct Setting {
  SpaceKind kind = SpaceKind::kTree;
  SearchOptions options;
  Limits limits = {};
};

struct Outcome {
  SearchReport report;
  std::vector<double> log_probs;  // of all configurations
  std::optional<Configuration> best;
};

Outcome search(const FactorGraph& graph, const Setting& setting) {
  const SearchSpace space = make_search_space(graph, search_order(graph, setting.kind, {.restarts = 1}), setting.kind);
  LeafValues leaves{.upper = maxima_value(graph, space)};
  if (setting.options.select != SelectRule::kMass) {  // the mass rule learns its estimates
    leaves.estimate = std::make_shared<UniformValue>(space);
  }
  const SearchResult result = search(graph, space, leaves, setting.limits, setting.options);
  Outcome outcome{result.report, {}, best_configuration(result)};
  const SearchApproximation approximation(result, SamplerKind::kEstimate);
  for_each_configuration(graph, [&](const Assignment& x) { outcome.log_probs.push_back(approximation.log_prob(x)); });
  return outcome;
}

Outcome search_with_workers(const FactorGraph& graph, int num_workers, const Setting& setting) {
  const OracleSet oracles(graph, "1", {.num_workers = num_workers});
  return search(oracles.graph(), setting);
}

void expect_same_bits(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.report.stop, b.report.stop);
  EXPECT_EQ(a.report.spent.reward_evaluations, b.report.spent.reward_evaluations);
  EXPECT_EQ(a.report.spent.factor_evaluations, b.report.spent.factor_evaluations);
  EXPECT_EQ(a.report.num_nodes, b.report.num_nodes);
  EXPECT_EQ(a.report.log_z.lower, b.report.log_z.lower);
  EXPECT_EQ(a.report.log_z.upper, b.report.log_z.upper);
  EXPECT_EQ(a.log_probs, b.log_probs);
}

void for_each_setting(const std::function<void(const FactorGraph&, Setting)>& check) {
  for (int trial = 0; trial < kNumTrials; ++trial) {
    const FactorGraph graph = model_of_trial(trial);
    for (const SpaceKind kind : kSpaces) {
      for (const SelectRule rule : kRules) {
        SCOPED_TRACE(::testing::Message() << "trial " << trial << ", space " << static_cast<int>(kind) << ", rule "
                                          << static_cast<int>(rule));
        Setting setting{.kind = kind, .options = {}};
        setting.options.select = rule;
        setting.options.dive_interval = trial % 4;
        check(graph, setting);
      }
    }
  }
}

TEST(ParallelSearch, OneWorkerIsTheSequentialSearch) {
  for_each_setting([](const FactorGraph& graph, Setting setting) {
    setting.limits.budget = 25;
    expect_same_bits(search(graph, setting), search_with_workers(graph, 1, setting));
  });
}

TEST(ParallelSearch, InTheOrderOfSubmissionEveryRunIsTheSame) {
  for (const int num_workers : {4, 16}) {
    for_each_setting([&](const FactorGraph& graph, Setting setting) {
      setting.limits.budget = 40;
      setting.options.answer_order = AnswerOrder::kSubmission;
      const Outcome first = search_with_workers(graph, num_workers, setting);
      for (int run = 0; run < 2; ++run) expect_same_bits(first, search_with_workers(graph, num_workers, setting));
    });
  }
}

TEST(ParallelSearch, WithoutLimitsItIsExact) {
  for_each_setting([](const FactorGraph& graph, Setting setting) {
    const Enumeration truth = enumerate(graph);
    for (const AnswerOrder order : kOrders) {
      setting.options.answer_order = order;
      const Outcome outcome = search_with_workers(graph, 4, setting);
      EXPECT_EQ(outcome.report.stop, StopReason::kExact);
      if (truth.log_z == kNegInf) {
        EXPECT_EQ(outcome.report.log_z.upper, kNegInf);
        continue;
      }
      EXPECT_NEAR(outcome.report.log_z.lower, truth.log_z, 1e-9);
      EXPECT_NEAR(outcome.report.log_z.upper, truth.log_z, 1e-9);
      ASSERT_TRUE(outcome.best.has_value());
      EXPECT_NEAR(outcome.best->log_density, graph.log_density(outcome.best->x), 1e-9);
      std::size_t i = 0;
      for_each_configuration(graph, [&](const Assignment& x) {
        EXPECT_LE(graph.log_density(x), outcome.best->log_density + 1e-9);
        const double expected = graph.log_density(x) - truth.log_z;
        if (expected == kNegInf) {
          EXPECT_EQ(outcome.log_probs[i], kNegInf);
        } else {
          EXPECT_NEAR(outcome.log_probs[i], expected, 1e-9);
        }
        ++i;
      });
    }
  });
}

TEST(ParallelSearch, NeverExceedsItsBudgetAndSpendsIt) {
  for (const int budget : {0, 1, 7, 30}) {
    for (const BudgetUnit unit : {BudgetUnit::kReward, BudgetUnit::kFactor}) {
      for_each_setting([&](const FactorGraph& graph, Setting setting) {
        setting.limits.budget = budget;
        setting.limits.unit = unit;
        const Outcome outcome = search_with_workers(graph, 16, setting);
        EXPECT_LE(outcome.report.spent.in(unit), budget);
        double sum = 0.0;
        for (const double log_prob : outcome.log_probs) sum += std::exp(log_prob);
        const bool is_impossible = outcome.report.log_z.upper == kNegInf;
        EXPECT_NEAR(sum, is_impossible ? 0.0 : 1.0, 1e-9);
        if (unit == BudgetUnit::kReward && outcome.report.stop == StopReason::kBudget) {
          EXPECT_GT(outcome.report.spent.reward_evaluations, budget - 4);  // at most one node of the budget is left
        }
      });
    }
  }
}

TEST(ParallelSearch, AFailureAmongPendingOnesEndsTheSearchWithTheAnswerSoFar) {
  int num_failed = 0;
  for_each_setting([&](const FactorGraph& graph, Setting setting) {
    for (const int num_workers : {1, 5}) {
      FactorGraph broken = graph;
      const std::vector<int> scope = {0, graph.num_variables() - 1};
      broken.add_factor(Factor::function(
          scope,
          [](std::span<const int> states) {
            if (states[0] == 1 && states[1] == 0) throw std::runtime_error("no convergence");
            return 0.0;
          },
          0.0));
      for (const AnswerOrder order : kOrders) {
        setting.options.answer_order = order;
        const Outcome outcome = search_with_workers(broken, num_workers, setting);
        double sum = 0.0;
        for (const double log_prob : outcome.log_probs) sum += std::exp(log_prob);
        if (outcome.report.stop == StopReason::kExact) continue;  // the state is impossible
        ++num_failed;
        EXPECT_EQ(outcome.report.stop, StopReason::kFactorFailed);
        ASSERT_TRUE(outcome.report.error.has_value());
        EXPECT_NE(std::string(outcome.report.error->what()).find("=0 failed: no convergence"), std::string::npos)
            << outcome.report.error->what();
        EXPECT_NEAR(sum, 1.0, 1e-9);
      }
    }
  });
  EXPECT_GT(num_failed, kNumTrials);
}

TEST(ParallelSearch, KeepsAsManyEvaluationsUnderWayAsThereAreWorkers) {
  constexpr int kWorkers = 6;
  // No evaluation returns before all workers are busy, so that a search which waits too early never ends.
  std::atomic<int> num_running = 0;
  std::atomic<bool> has_been_full = false;
  FactorGraph graph = testing::variables(4, 2);
  for (int v = 0; v < 4; ++v) {
    graph.add_factor(Factor::function(
        {v},
        [&](std::span<const int> states) {
          if (++num_running >= kWorkers) has_been_full = true;
          const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
          while (!has_been_full && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
          --num_running;
          return -0.5 * states[0];
        },
        0.0));
  }
  Setting setting;
  setting.kind = SpaceKind::kAndOr;  // four components: enough work from the start
  const Outcome outcome = search_with_workers(graph, kWorkers, setting);
  EXPECT_TRUE(has_been_full);
  EXPECT_EQ(outcome.report.stop, StopReason::kExact);
}

}  // namespace
}  // namespace treesample
