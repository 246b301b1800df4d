// The mass rule with calibrated values against enumeration: what holds for factors that can only be evaluated.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "support/random_models.hpp"
#include "treesample/evaluate/divergence.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/families/family.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/search.hpp"
#include "treesample/search/search_approximation.hpp"
#include "treesample/tree/tree_sample.hpp"

namespace treesample {
namespace {

using testing::random_model;
using testing::RandomModelOptions;

constexpr SpaceKind kSpaces[] = {SpaceKind::kTree, SpaceKind::kGraph, SpaceKind::kAndOr};
constexpr int kNumTrials = 40;

// Unequal numbers of states, zeros in two of three models, functions and tables.
FactorGraph model_of_trial(int trial) {
  RandomModelOptions options{.num_variables = 3 + trial % 4,
                             .max_states = 2 + trial % 4,
                             .num_factors = 4 + trial % 7,
                             .max_arity = 2 + trial % 2,
                             .zero_probability = 0.15 * (trial % 3),
                             .function_probability = 0.5 * (trial % 2),
                             .scale = trial % 5 == 0 ? 50.0 : 2.0};
  Random random(trial, "functions");
  return random_model(random, options);
}

SearchSpace space_of(const FactorGraph& graph, SpaceKind kind) {
  return make_search_space(graph, search_order(graph, kind, {.kind = OrderKind::kGiven}), kind);
}

SearchResult search(const FactorGraph& graph, SpaceKind kind, const Limits& limits) {
  return search(graph, space_of(graph, kind), {}, limits, {.select = SelectRule::kMass});
}

// The same for functions that may declare their maxima.
SearchResult search_below_maxima(const FactorGraph& graph, SpaceKind kind, std::int64_t budget) {
  const SearchSpace space = space_of(graph, kind);
  LeafValues leaves{.upper = maxima_value(graph, space)};
  return search(graph, space, leaves, {.budget = budget}, {.select = SelectRule::kMass});
}

std::vector<double> log_probs(const FactorGraph& graph, const Approximation& approximation) {
  const auto count = static_cast<std::size_t>(std::llround(std::exp(graph.log_num_configurations())));
  std::vector<double> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(approximation.log_prob(configuration_at(graph, i)));
  return result;
}

TEST(MassSearch, ProbabilitiesAddUpToOneAtEveryBudget) {
  for (int trial = 0; trial < kNumTrials; ++trial) {
    const FactorGraph graph = model_of_trial(trial);
    for (const SpaceKind kind : kSpaces) {
      for (const int budget : {0, 1, 4, 9, 25, 70}) {
        const SearchResult result = search(graph, kind, {.budget = budget});
        EXPECT_LE(result.report.spent.reward_evaluations, budget);
        const SearchApproximation sampler(result, SamplerKind::kEstimate);
        ASSERT_FALSE(std::isnan(sampler.log_value()));
        if (sampler.log_value() == kNegInf) continue;  // nothing is possible
        EXPECT_NEAR(log_sum_exp(log_probs(graph, sampler)), 0.0, 1e-10)
            << "trial " << trial << ", space " << static_cast<int>(kind) << ", budget " << budget;
        Random random(trial, "sample");
        const Assignment x = sampler.sample(random);
        EXPECT_NE(sampler.log_prob(x), kNegInf);
      }
    }
  }
}

TEST(MassSearch, IsExactWhenItHasSeenEverything) {
  for (int trial = 0; trial < kNumTrials; ++trial) {
    const FactorGraph graph = model_of_trial(trial);
    const Enumeration target = enumerate(graph);
    for (const SpaceKind kind : kSpaces) {
      const SearchResult result = search(graph, kind, {.budget = 1'000'000});
      ASSERT_EQ(result.report.stop, StopReason::kExact);
      if (target.log_z == kNegInf) {
        EXPECT_EQ(result.report.log_z.upper, kNegInf);
        continue;
      }
      const double tolerance = 1e-9 * (1.0 + std::abs(target.log_z));
      EXPECT_NEAR(result.report.estimate, target.log_z, tolerance);
      EXPECT_NEAR(result.report.log_z.lower, target.log_z, tolerance);
      const std::vector<double> found = log_probs(graph, SearchApproximation(result, SamplerKind::kEstimate));
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (target.log_probs[i] == kNegInf) {
          EXPECT_EQ(found[i], kNegInf);
        } else {
          EXPECT_NEAR(found[i], target.log_probs[i], 1e-9 * (1.0 + std::abs(target.log_probs[i])));
        }
      }
    }
  }
}

TEST(MassSearch, FactorBudgetIsNeverExceeded) {
  for (int trial = 0; trial < kNumTrials; ++trial) {
    const FactorGraph graph = model_of_trial(trial);
    EXPECT_LE(
        search(graph, kSpaces[trial % 3], {.budget = 31, .unit = BudgetUnit::kFactor}).report.spent.factor_evaluations,
        31);
  }
}

// A model whose factors record their calls.
struct Recorded {
  FactorGraph graph;
  std::shared_ptr<std::vector<int>> calls = std::make_shared<std::vector<int>>();
};

Recorded recorded_model(int trial, const std::vector<double>& constants) {
  Recorded model;
  Random random(trial, "recorded");
  for (int v = 0; v < 6; ++v) model.graph.add_variable(2 + v % 3);
  for (int m = 0; m < static_cast<int>(constants.size()); ++m) {
    const std::vector<int> scope = {m % 6, (m + 1 + m / 6) % 6};
    std::vector<double> values(model.graph.num_states(scope[0]) * model.graph.num_states(scope[1]));
    // Every fourth model has values on a coarse grid, which are equal in theory and differ by rounding.
    for (double& value : values) value = trial % 4 == 0 ? static_cast<double>(random.below(8)) / 4.0 : random.normal();
    if (trial % 2 == 1) values[random.below(values.size())] = kNegInf;
    const int stride = model.graph.num_states(scope[1]);
    model.graph.add_factor(Factor::function(
        scope,
        [calls = model.calls, values, stride, m, constant = constants[m]](std::span<const int> states) {
          calls->insert(calls->end(), {m, states[0], states[1]});
          return values[states[0] * stride + states[1]] + constant;
        },
        trial % 3 == 0 ? std::optional(*std::max_element(values.begin(), values.end()) + constants[m]) : std::nullopt));
  }
  return model;
}

TEST(MassSearch, AddingConstantsToFactorsChangesNoDecision) {
  const std::vector<double> none(9, 0.0);
  const std::vector<double> constants = {-3.0, 8.0, 0.5, -40.0, 0.0, 2.5, 100.0, -1.0, 7.0};
  double total = 0.0;
  for (const double constant : constants) total += constant;
  for (int trial = 0; trial < 20; ++trial) {
    for (const SpaceKind kind : kSpaces) {
      for (const int budget : {20, 60, 200}) {
        const Recorded plain = recorded_model(trial, none);
        const Recorded moved = recorded_model(trial, constants);
        const SearchResult plain_result = search_below_maxima(plain.graph, kind, budget);
        const SearchResult moved_result = search_below_maxima(moved.graph, kind, budget);
        ASSERT_EQ(*plain.calls, *moved.calls) << "trial " << trial << ", space " << static_cast<int>(kind);
        if (plain_result.report.stop == StopReason::kExact) {
          EXPECT_NEAR(moved_result.report.estimate - plain_result.report.estimate, total, 1e-9);
        }
        const SearchApproximation plain_sampler(plain_result, SamplerKind::kEstimate);
        const SearchApproximation moved_sampler(moved_result, SamplerKind::kEstimate);
        const std::vector<double> plain_probs = log_probs(plain.graph, plain_sampler);
        const std::vector<double> moved_probs = log_probs(moved.graph, moved_sampler);
        for (std::size_t i = 0; i < plain_probs.size(); ++i) {
          if (plain_probs[i] == kNegInf) {
            EXPECT_EQ(moved_probs[i], kNegInf);
          } else {
            EXPECT_NEAR(moved_probs[i], plain_probs[i], 1e-9);
          }
        }
      }
    }
  }
}

// Large enough that some levels are first seen when many values are already out of date.
TEST(MassSearch, AddingConstantsChangesNoDecisionHoweverLateALevelIsSeen) {
  const auto calls_of = [](int trial, double constant) {
    FactorGraph graph;
    std::vector<int> calls;
    Random random(trial, "long");
    for (int v = 0; v < 16; ++v) graph.add_variable(3);
    for (int v = 1; v < 16; ++v) {
      std::vector<double> values(9);
      for (double& value : values) value = random.normal() + (v % 2 == 0 ? constant : -2.0 * constant);
      graph.add_factor(Factor::function({v - 1, v}, [&calls, values, v](std::span<const int> states) {
        calls.insert(calls.end(), {v, states[0], states[1]});
        return values[states[0] * 3 + states[1]];
      }));
    }
    search(graph, SpaceKind::kTree, {.budget = 1000});
    return calls;
  };
  for (int trial = 0; trial < 10; ++trial) {
    const std::vector<int> plain = calls_of(trial, 0.0);
    EXPECT_EQ(plain, calls_of(trial, 8.0)) << "trial " << trial;
    EXPECT_EQ(plain, calls_of(trial, -8.0)) << "trial " << trial;
  }
}

TEST(MassSearch, SameModelSameBits) {
  const Recorded first = recorded_model(3, std::vector<double>(9, 0.0));
  const Recorded second = recorded_model(3, std::vector<double>(9, 0.0));
  const SearchResult a = search(first.graph, SpaceKind::kTree, {.budget = 150});
  const SearchResult b = search(second.graph, SpaceKind::kTree, {.budget = 150});
  EXPECT_EQ(*first.calls, *second.calls);
  EXPECT_EQ(a.report.estimate, b.report.estimate);
  EXPECT_EQ(log_probs(first.graph, SearchApproximation(a, SamplerKind::kEstimate)),
            log_probs(second.graph, SearchApproximation(b, SamplerKind::kEstimate)));
}

TEST(MassSearch, DivergenceByOnePassOverTheStoreIsThatOfEnumeration) {
  int num_checked = 0;
  for (int trial = 0; trial < kNumTrials; trial += 2) {  // tables
    const FactorGraph graph = model_of_trial(trial);
    for (const SpaceKind kind : kSpaces) {
      for (const int budget : {0, 10, 40}) {
        const SearchResult result = search(graph, kind, {.budget = budget});
        const SearchApproximation sampler(result, SamplerKind::kEstimate);
        if (sampler.log_value() == kNegInf) continue;
        const std::optional<Divergence> found = store_divergence(graph, sampler);
        ASSERT_TRUE(found);
        const Divergence expected = enumerated_divergence(graph, sampler);
        EXPECT_NEAR(found->entropy, expected.entropy, 1e-9);
        if (expected.energy == kNegInf) {
          EXPECT_EQ(found->energy, kNegInf);
        } else {
          EXPECT_NEAR(found->energy, expected.energy, 1e-9 * (1.0 + std::abs(expected.energy)));
          ++num_checked;
        }
      }
    }
  }
  EXPECT_GT(num_checked, 50);
}

TEST(MassSearch, BestConfigurationIsTheBestOfThoseEvaluated) {
  for (int trial = 0; trial < kNumTrials; ++trial) {
    const FactorGraph graph = model_of_trial(trial);
    const Enumeration target = enumerate(graph);
    for (const SpaceKind kind : kSpaces) {
      const std::optional<Configuration> solved = best_configuration(search(graph, kind, {.budget = 1'000'000}));
      ASSERT_EQ(solved.has_value(), target.log_z != kNegInf);
      if (!solved) continue;
      const double largest = *std::max_element(target.log_probs.begin(), target.log_probs.end()) + target.log_z;
      EXPECT_NEAR(solved->log_density, largest, 1e-9 * (1.0 + std::abs(largest)));
      EXPECT_FALSE(best_configuration(search(graph, kind, {.budget = 0})));
      const std::optional<Configuration> partial = best_configuration(search(graph, kind, {.budget = 30}));
      if (!partial) continue;
      EXPECT_NEAR(partial->log_density, graph.log_density(partial->x), 1e-9 * (1.0 + std::abs(largest)));
      EXPECT_LE(partial->log_density, largest + 1e-9 * (1.0 + std::abs(largest)));
    }
  }
}

TEST(MassSearch, MemoryLimitLeavesADistribution) {
  int num_collapses = 0;
  for (int trial = 0; trial < 12; ++trial) {
    Random random(trial, "collapse");
    const FactorGraph graph =
        random_model(random, {.num_variables = 9, .num_factors = 14, .zero_probability = 0.1 * (trial % 2)});
    const SearchResult result = search(graph, kSpaces[trial % 3], {.budget = 20'000, .bytes = 20'000});
    num_collapses += static_cast<int>(result.report.num_collapses);
    const SearchApproximation sampler(result, SamplerKind::kEstimate);
    if (sampler.log_value() != kNegInf) {
      EXPECT_NEAR(log_sum_exp(log_probs(graph, sampler)), 0.0, 1e-10);
    }
  }
  EXPECT_GT(num_collapses, 5);
}

// A memory that holds a few nodes only: the search would give back and expand the same ones for ever.
TEST(MassSearch, EndsInAnyMemoryWhateverTheBudgetIs) {
  constexpr int kTooManyLooks = 100'000;
  int num_too_small = 0;
  for (int trial = 0; trial < kNumTrials; ++trial) {
    const FactorGraph graph = model_of_trial(trial);
    const SearchSpace space = space_of(graph, kSpaces[trial % 3]);
    for (const std::size_t bytes : {1, 500, 1000, 2000, 10'000}) {
      for (const BudgetUnit unit : {BudgetUnit::kReward, BudgetUnit::kCost}) {
        int num_looks = 0;
        const Observer observer{.should_stop = [&] { return ++num_looks > kTooManyLooks; }};
        const SearchResult result = search(graph, space, {}, {.budget = 1'000'000'000, .unit = unit, .bytes = bytes},
                                           {.select = SelectRule::kMass}, observer);
        EXPECT_NE(result.report.stop, StopReason::kInterrupted) << trial << " " << bytes;
        if (result.report.stop == StopReason::kMemory && result.report.num_collapses > 1) ++num_too_small;
      }
    }
  }
  EXPECT_GT(num_too_small, 20);
}

// The purpose of the method (docs/methods/mass.md): at few evaluations too, and on raw factors.
TEST(MassSearch, ComesCloserThanThePlainSearchOnTheFamiliesOfThePaper) {
  for (const char* const family : {"chain", "permuted-chain", "factor-graphs-1", "factor-graphs-2"}) {
    for (const int budget : {100, 1000}) {
      double plain = 0.0;
      double improved = 0.0;
      for (std::uint64_t i = 0; i < 10; ++i) {
        const FactorGraph graph = make_family(family, {.seed = 11, .instance = i}).graph;
        const double log_z = Elimination(graph).log_z();
        Random random(0);
        plain += divergence(graph,
                            tree_sample(graph, space_of(graph, SpaceKind::kTree), {}, {.budget = budget}).approximation,
                            {}, random)
                     .kl(log_z);
        const SearchApproximation sampler(search(graph, SpaceKind::kTree, {.budget = budget}), SamplerKind::kEstimate);
        improved += divergence(graph, sampler, {}, random).kl(log_z);
      }
      EXPECT_LT(improved, 1.02 * plain) << family << " at " << budget;
      EXPECT_GT(improved, 0.0);
    }
  }
}

}  // namespace
}  // namespace treesample
