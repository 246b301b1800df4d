// The search with bounds against enumeration: docs/methods/search.md lists the claims.
#include "treesample/search/search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "support/bounds_check.hpp"
#include "support/configurations.hpp"
#include "support/random_models.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/search_approximation.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {
namespace {

using testing::for_each_configuration;
using testing::random_model;
using testing::RandomModelOptions;

constexpr SpaceKind kSpaces[] = {SpaceKind::kTree, SpaceKind::kGraph, SpaceKind::kAndOr};
constexpr SelectRule kRules[] = {SelectRule::kGap, SelectRule::kQUct, SelectRule::kMass};
constexpr int kNumTrials = 60;

RandomModelOptions options_of_trial(int trial) {
  return {.num_variables = 3 + trial % 4,
          .max_states = 2 + trial % 3,
          .num_factors = 4 + trial % 8,
          .min_arity = trial % 2,
          .max_arity = 2 + trial % 2,
          .zero_probability = 0.2 * (trial / 3 % 3),
          .scale = trial % 7 == 0 ? 100.0 : 1.0 + trial % 4};
}

// The kinds of leaf values that a table model can have.
enum class Leaves { kMaxima, kMiniBuckets, kLeafMass };
constexpr Leaves kLeaves[] = {Leaves::kMaxima, Leaves::kMiniBuckets, Leaves::kLeafMass};

LeafValues make_leaves(const FactorGraph& graph, const SearchSpace& space, Leaves kind, int trial) {
  if (kind == Leaves::kMiniBuckets) {
    MiniBucketOptions options{.i_bound = trial % 3, .passes = 2};
    return mini_bucket_leaves(graph, space, std::make_shared<WeightedMiniBucket>(graph, space, options),
                              trial % 2 == 0 ? uniform_distributions(graph) : mean_field(graph, 5, trial));
  }
  LeafValues leaves;
  if (kind == Leaves::kMaxima) leaves.lower = product_value(graph, space, uniform_distributions(graph));
  leaves.upper = maxima_value(graph, space);
  return leaves;
}

struct Case {
  FactorGraph graph;
  SearchSpace space;
  LeafValues leaves;
  SearchOptions options;
  double log_z = 0.0;
};

void for_each_case(const std::function<void(const Case&)>& check) {
  for (int trial = 0; trial < kNumTrials; ++trial) {
    Case test;
    Random random(trial, "model");
    test.graph = random_model(random, options_of_trial(trial));
    test.log_z = enumerate(test.graph).log_z;
    for (const SpaceKind kind : kSpaces) {
      test.space = make_search_space(test.graph, search_order(test.graph, kind, {}), kind);
      for (const Leaves leaves : kLeaves) {
        test.leaves = make_leaves(test.graph, test.space, leaves, trial);
        for (const SelectRule rule : kRules) {
          test.options = {};
          test.options.select = rule;
          test.options.dive_interval = trial % 4;
          test.options.expansions_per_traversal = 1 + trial % 3;
          test.options.observer_interval = 1;
          SCOPED_TRACE(::testing::Message() << "trial " << trial << ", space " << static_cast<int>(kind) << ", leaves "
                                            << static_cast<int>(leaves) << ", rule " << static_cast<int>(rule));
          check(test);
        }
      }
    }
  }
}

double tolerance_at(double value) { return value == kNegInf ? 0.0 : 1e-10 * (1.0 + std::abs(value)); }

TEST(Search, BoundsHoldAndNeverGetWorseAfterEveryTraversal) {
  for_each_case([](const Case& test) {
    const SearchResult result =
        search(test.graph, test.space, test.leaves, {}, test.options, {testing::BoundsCheck(test.log_z)});
    EXPECT_LE(result.report.log_z.lower, test.log_z);
    EXPECT_GE(result.report.log_z.upper, test.log_z);
  });
}

TEST(Search, WithoutLimitsTheBoundsMeetAtLogZ) {
  for_each_case([](const Case& test) {
    const SearchResult result = search(test.graph, test.space, test.leaves, {}, test.options);
    EXPECT_EQ(result.report.stop, StopReason::kExact);
    if (test.log_z == kNegInf) {
      EXPECT_EQ(result.report.log_z.upper, kNegInf);
      return;
    }
    EXPECT_NEAR(result.report.log_z.lower, test.log_z, tolerance_at(test.log_z));
    EXPECT_NEAR(result.report.log_z.upper, test.log_z, tolerance_at(test.log_z));
  });
}

TEST(Search, BudgetIsNeverExceeded) {
  for_each_case([](const Case& test) {
    for (const BudgetUnit unit : {BudgetUnit::kReward, BudgetUnit::kFactor}) {
      const Spending spent =
          search(test.graph, test.space, test.leaves, {.budget = 17, .unit = unit}, test.options).report.spent;
      EXPECT_LE(unit == BudgetUnit::kReward ? spent.reward_evaluations : spent.factor_evaluations, 17);
    }
  });
}

// log P of every configuration; the probabilities must add up to 1.
std::vector<double> log_probs(const FactorGraph& graph, const Approximation& approximation) {
  std::vector<double> result;
  for_each_configuration(graph, [&](const Assignment& x) { result.push_back(approximation.log_prob(x)); });
  EXPECT_NEAR(log_sum_exp(result), 0.0, 1e-10);
  return result;
}

TEST(Search, LowerSamplerHasExactlyTheDivergenceThatItsValueSays) {
  int num_checked = 0;
  for_each_case([&](const Case& test) {
    const SearchResult result = search(test.graph, test.space, test.leaves, {.budget = 25}, test.options);
    const SearchApproximation sampler(result, SamplerKind::kLower);
    EXPECT_LE(sampler.log_value(), result.report.log_z.lower + tolerance_at(result.report.log_z.lower));
    if (sampler.log_value() == kNegInf) return;
    const std::vector<double> probs = log_probs(test.graph, sampler);
    double elbo = 0.0;
    std::size_t i = 0;
    for_each_configuration(test.graph, [&](const Assignment& x) {
      const double log_prob = probs[i++];
      if (log_prob != kNegInf) elbo += std::exp(log_prob) * (test.graph.log_density(x) - log_prob);
    });
    EXPECT_NEAR(sampler.log_value(), elbo, 1e-9 * (1.0 + std::abs(elbo)));
    ++num_checked;
  });
  EXPECT_GT(num_checked, 100);
}

TEST(Search, WeightsOfTheUpperSamplerNeverPassItsValue) {
  for_each_case([](const Case& test) {
    const SearchResult result = search(test.graph, test.space, test.leaves, {.budget = 25}, test.options);
    const SearchApproximation sampler(result, SamplerKind::kUpper);
    EXPECT_GE(sampler.log_value(), test.log_z);
    if (sampler.log_value() == kNegInf) return;
    const std::vector<double> probs = log_probs(test.graph, sampler);
    std::size_t i = 0;
    for_each_configuration(test.graph, [&](const Assignment& x) {
      const double log_prob = probs[i++];
      const double log_density = test.graph.log_density(x);
      if (log_density != kNegInf) {
        EXPECT_LE(log_density - log_prob, sampler.log_value() + tolerance_at(sampler.log_value()));
      }
    });
  });
}

TEST(Search, EstimateSamplerIsADistributionAtEveryBudget) {
  for_each_case([](const Case& test) {
    for (const int budget : {0, 10, 40}) {
      const SearchResult result = search(test.graph, test.space, test.leaves, {.budget = budget}, test.options);
      const SearchApproximation sampler(result, SamplerKind::kEstimate);
      if (sampler.log_value() != kNegInf) log_probs(test.graph, sampler);
    }
  });
}

TEST(Search, SolvedSearchSamplesTheTarget) {
  for_each_case([](const Case& test) {
    if (test.log_z == kNegInf) return;
    const SearchResult result = search(test.graph, test.space, test.leaves, {}, test.options);
    for (const SamplerKind kind : {SamplerKind::kLower, SamplerKind::kUpper, SamplerKind::kEstimate}) {
      const SearchApproximation sampler(result, kind);
      for_each_configuration(test.graph, [&](const Assignment& x) {
        const double log_density = test.graph.log_density(x);
        const double log_prob = sampler.log_prob(x);
        if (log_density == kNegInf) {
          EXPECT_EQ(log_prob, kNegInf);
        } else {
          EXPECT_NEAR(log_prob, log_density - test.log_z, 1e-9 * (1.0 + std::abs(log_density)));
        }
      });
    }
  });
}

TEST(Search, AddingAConstantToAFactorChangesNoDecision) {
  constexpr double kShift = 0.5;  // exact in binary, like the entries below
  for (int trial = 0; trial < 20; ++trial) {
    FactorGraph graph;
    FactorGraph shifted;
    Random random(trial, "model");
    for (int v = 0; v < 6; ++v) {
      graph.add_variable(2 + v % 2);
      shifted.add_variable(2 + v % 2);
    }
    for (int m = 0; m < 8; ++m) {
      const std::vector<int> scope = {m % 6, (m + 1 + m / 6) % 6};
      std::vector<double> values(graph.num_states(scope[0]) * graph.num_states(scope[1]));
      for (double& value : values) value = static_cast<double>(random.below(64)) / 16.0 - 2.0;
      graph.add_table(scope, values);
      for (double& value : values) value += m == 3 ? kShift : 0.0;
      shifted.add_table(scope, values);
    }
    for (const SpaceKind kind : kSpaces) {
      for (const SelectRule rule : {SelectRule::kGap, SelectRule::kQUct}) {  // kMass: mass_search_test.cpp
        SearchOptions options{.select = rule};
        const auto run = [&](const FactorGraph& model) {
          const SearchSpace space = make_search_space(model, search_order(model, kind, {}), kind);
          return search(model, space, make_leaves(model, space, Leaves::kMaxima, 0), {.budget = 30}, options).report;
        };
        const SearchReport plain = run(graph);
        const SearchReport moved = run(shifted);
        EXPECT_EQ(plain.num_nodes, moved.num_nodes);
        EXPECT_EQ(plain.num_traversals, moved.num_traversals);
        EXPECT_NEAR(moved.log_z.lower - plain.log_z.lower, kShift, 1e-9);
        EXPECT_NEAR(moved.log_z.upper - plain.log_z.upper, kShift, 1e-9);
      }
    }
  }
}

TEST(Search, CollapsedStoreKeepsItsBoundsAndGoesOnToTheExactAnswer) {
  int num_collapses = 0;
  for (int trial = 0; trial < 20; ++trial) {
    RandomModelOptions model_options = options_of_trial(trial);
    model_options.num_variables = 9;
    model_options.num_factors = 14;
    Random random(trial, "model");
    const FactorGraph graph = random_model(random, model_options);
    const double log_z = enumerate(graph).log_z;
    for (const SpaceKind kind : kSpaces) {
      const SearchSpace space = make_search_space(graph, search_order(graph, kind, {}), kind);
      SearchOptions options;
      const Limits limits{.budget = 20'000, .bytes = 20'000};
      options.observer_interval = 1;
      const SearchResult result = search(graph, space, make_leaves(graph, space, kLeaves[trial % 3], trial), limits,
                                         options, {testing::BoundsCheck(log_z)});
      num_collapses += static_cast<int>(result.report.num_collapses);
      EXPECT_LE(result.report.used_bytes, limits.bytes);
      for (const SamplerKind sampler_kind : {SamplerKind::kLower, SamplerKind::kUpper, SamplerKind::kEstimate}) {
        const SearchApproximation sampler(result, sampler_kind);
        if (sampler.log_value() == kNegInf) continue;
        const std::vector<double> probs = log_probs(graph, sampler);
        if (sampler_kind != SamplerKind::kUpper) continue;
        std::size_t i = 0;
        for_each_configuration(graph, [&](const Assignment& x) {
          const double log_weight = graph.log_density(x) - probs[i++];
          if (!std::isnan(log_weight)) {
            EXPECT_LE(log_weight, sampler.log_value() + tolerance_at(sampler.log_value()));
          }
        });
      }
    }
  }
  EXPECT_GT(num_collapses, 20);
}

// An observer that says only once that it wants to stop is heard, and the reason is not taken for another one.
TEST(Search, AnInterruptionIsNotForgotten) {
  Random random(3);
  const FactorGraph graph =
      random_model(random, {.num_variables = 8, .max_states = 2, .num_factors = 20, .min_arity = 2, .max_arity = 2});
  const SearchSpace space = make_search_space(graph, random.permutation(8), SpaceKind::kTree);
  for (int when = 1; when < 20; ++when) {
    int num_asked = 0;
    const Observer once{.should_stop = [&] { return ++num_asked == when; }};
    const SearchReport report =
        search(graph, space, {.upper = maxima_value(graph, space)}, {.threads = 1}, {}, once).report;
    EXPECT_EQ(report.stop, num_asked < when ? StopReason::kExact : StopReason::kInterrupted) << when;
  }
}

}  // namespace
}  // namespace treesample
