#include "treesample/value/mini_bucket.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "support/random_models.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/search/q_uct_search.hpp"

namespace treesample {
namespace {

using testing::random_model;
using testing::RandomModelOptions;

constexpr SpaceKind kSpaces[] = {SpaceKind::kTree, SpaceKind::kGraph, SpaceKind::kAndOr};

// Cycles through sizes, zeros and scales; some of the models have Z = 0.
RandomModelOptions options_of_trial(int trial) {
  return {.num_variables = 3 + trial % 4,
          .max_states = 2 + trial % 3,
          .num_factors = 5 + trial % 9,
          .min_arity = trial % 2,
          .max_arity = 2 + trial % 3,
          .zero_probability = 0.15 * (trial / 3 % 3),
          .scale = trial % 7 == 0 ? 1e3 : 1.0 + trial % 4};
}

SearchSpace space_of(const FactorGraph& graph, SpaceKind kind) {
  return make_search_space(graph, search_order(graph, kind, {}), kind);
}

double tolerance_at(double value) { return value == kNegInf ? 0.0 : 1e-10 * (1.0 + std::abs(value)); }

// The soft-Bellman equation by recursion: V_j at the states of x before the level.
double exact_value(const FactorGraph& graph, const SearchSpace& space, int level, Assignment& x) {
  const Level& here = space.levels[level];
  std::vector<double> q;
  for (int a = 0; a < here.num_states; ++a) {
    x[here.variable] = a;
    double sum = 0.0;
    for (const int m : here.factors) sum += graph.log_value(m, x);
    for (const int j : here.children) sum += exact_value(graph, space, j, x);
    q.push_back(sum);
  }
  x[here.variable] = -1;
  return log_sum_exp(q);
}

// Calls visit(x) for all states of the ancestors of a level; everything else in x is -1.
void for_each_context(const SearchSpace& space, int level, const std::function<void(Assignment&)>& visit) {
  std::vector<int> path;
  for (int n = space.levels[level].parent; n >= 0; n = space.levels[n].parent) path.push_back(n);
  Assignment x(space.levels.size(), -1);
  const std::function<void(std::size_t)> assign = [&](std::size_t k) {
    if (k == path.size()) return visit(x);
    for (int a = 0; a < space.levels[path[k]].num_states; ++a) {
      x[space.levels[path[k]].variable] = a;
      assign(k + 1);
    }
  };
  assign(0);
}

void expect_level_bounds(const FactorGraph& graph, const SearchSpace& space, const WeightedMiniBucket& bounds) {
  for (int n = 0; n < space.num_levels(); ++n) {
    for_each_context(space, n, [&](Assignment& x) {
      const double value = exact_value(graph, space, n, x);
      const double upper = bounds.log_upper(n, x);
      const double lower = bounds.log_lower(n, x);
      ASSERT_GE(upper, value);  // no tolerance: the bounds are widened
      ASSERT_LE(lower, value);
      if (bounds.is_exact(n)) {
        ASSERT_LE(upper - (value == kNegInf ? 0.0 : value), upper == kNegInf ? 0.0 : tolerance_at(value));
        ASSERT_TRUE(value == kNegInf ? lower == kNegInf : value - lower <= tolerance_at(value));
      }
      // One step down: Q_phi bounds Q_n, and its log-sum-exp is no looser than U_n.
      std::vector<double> q(static_cast<std::size_t>(space.levels[n].num_states));
      bounds.q_values(n, x, 1, q);
      ASSERT_GE(log_sum_exp(q), value == kNegInf ? value : value - tolerance_at(value));
      ASSERT_LE(log_sum_exp(q), upper);
    });
  }
}

TEST(WeightedMiniBucket, BracketsEverySubProblemForEveryBoundAndPassCount) {
  Random random(51);
  int num_split = 0;
  int num_lower = 0;
  for (int trial = 0; trial < 42; ++trial) {
    const FactorGraph graph = random_model(random, options_of_trial(trial));
    const double log_z = enumerate(graph).log_z;
    for (const SpaceKind kind : kSpaces) {
      const SearchSpace space = space_of(graph, kind);
      for (int i = 0; i <= space.width(); ++i) {
        SCOPED_TRACE(::testing::Message() << "trial " << trial << " space " << static_cast<int>(kind) << " i " << i);
        double last_upper = HUGE_VAL;
        double last_lower = kNegInf;
        for (const int passes : {1, 2, 3, 6}) {
          const WeightedMiniBucket bounds(graph, space, {.i_bound = i, .passes = passes});
          const MiniBucketReport& report = bounds.report();
          ASSERT_GE(report.log_upper, log_z);
          ASSERT_LE(report.log_lower, log_z);
          ASSERT_NO_FATAL_FAILURE(expect_level_bounds(graph, space, bounds));
          // More passes are never worse; the allowance for rounding grows with them.
          ASSERT_LE(report.log_upper, last_upper + tolerance_at(last_upper));
          ASSERT_GE(report.log_lower, last_lower == kNegInf ? kNegInf : last_lower - tolerance_at(last_lower));
          last_upper = report.log_upper;
          last_lower = report.log_lower;
          num_split += report.is_exact ? 0 : 1;
          num_lower += report.has_lower && !report.is_exact ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(num_split, 100);
  EXPECT_GT(num_lower, 30);
}

TEST(WeightedMiniBucket, IsEliminationWhenTheBoundReachesTheWidth) {
  Random random(52);
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    const FactorGraph graph = random_model(random, options_of_trial(trial));
    const SearchSpace space = space_of(graph, kSpaces[trial % 3]);
    const WeightedMiniBucket bounds(graph, space);
    ASSERT_TRUE(bounds.report().is_exact);
    ASSERT_TRUE(bounds.report().has_lower);
    const double log_z = Elimination(graph).log_z();
    if (log_z == kNegInf) {
      ASSERT_EQ(bounds.report().log_upper, kNegInf);
      ASSERT_EQ(bounds.report().log_lower, kNegInf);
    } else {
      ASSERT_NEAR(bounds.report().log_upper, log_z, tolerance_at(log_z));
      ASSERT_NEAR(bounds.report().log_lower, log_z, tolerance_at(log_z));
    }
  }
}

TEST(WeightedMiniBucket, PassesTightenBothBounds) {
  Random random(53);
  double gain = 0.0;
  for (int trial = 0; trial < 10; ++trial) {
    const FactorGraph graph = random_model(
        random,
        {.num_variables = 12, .min_states = 2, .max_states = 3, .num_factors = 30, .min_arity = 2, .max_arity = 2});
    const SearchSpace space = space_of(graph, SpaceKind::kAndOr);
    const double log_z = Elimination(graph).log_z();
    const WeightedMiniBucket first(graph, space, {.i_bound = 2, .passes = 1});
    const WeightedMiniBucket last(graph, space, {.i_bound = 2, .passes = 10});
    ASSERT_TRUE(last.report().has_lower);
    gain += first.report().log_upper - last.report().log_upper;
    EXPECT_LT(last.report().log_upper - log_z, 0.7 * (first.report().log_upper - log_z));
    EXPECT_LT(log_z - last.report().log_lower, 0.7 * (log_z - first.report().log_lower));
  }
  EXPECT_GT(gain, 1.0);
}

TEST(WeightedMiniBucket, NeverGetsWorseWithMorePasses) {
  Random random(60);
  int num_lost = 0;  // passes that would have worsened a bound
  for (int trial = 0; trial < 12; ++trial) {
    SCOPED_TRACE(trial);
    const FactorGraph graph = random_model(random, {.num_variables = 14,
                                                    .min_states = 2,
                                                    .num_factors = 40,
                                                    .min_arity = 2,
                                                    .zero_probability = trial % 2 == 0 ? 0.0 : 0.2,
                                                    .scale = 1.0 + trial});
    const SearchSpace space = space_of(graph, SpaceKind::kAndOr);
    MiniBucketReport last = WeightedMiniBucket(graph, space, {.i_bound = 2, .passes = 1}).report();
    for (int passes = 2; passes <= 12; ++passes) {
      const MiniBucketReport next = WeightedMiniBucket(graph, space, {.i_bound = 2, .passes = passes}).report();
      ASSERT_LE(next.log_upper, last.log_upper + tolerance_at(last.log_upper));
      ASSERT_GE(next.log_lower, last.has_lower ? last.log_lower - tolerance_at(last.log_lower) : kNegInf);
      num_lost += std::abs(next.log_upper - last.log_upper) < tolerance_at(last.log_upper) ? 1 : 0;
      num_lost += last.has_lower && std::abs(next.log_lower - last.log_lower) < tolerance_at(last.log_lower) ? 1 : 0;
      last = next;
    }
  }
  EXPECT_GT(num_lost, 5);
}

TEST(WeightedMiniBucket, BracketsWhenClustersHaveManyBlocks) {
  Random random(54);
  const FactorGraph graph =
      random_model(random, {.num_variables = 18, .min_states = 2, .max_states = 2, .num_factors = 400, .max_arity = 3});
  const SearchSpace space = space_of(graph, SpaceKind::kAndOr);
  const double log_z = Elimination(graph).log_z();
  const WeightedMiniBucket bounds(graph, space, {.i_bound = 12, .passes = 4});  // a block has at most 2^11 entries
  ASSERT_FALSE(bounds.report().is_exact);
  EXPECT_GE(bounds.report().log_upper, log_z);
  EXPECT_LE(bounds.report().log_lower, log_z);
  EXPECT_LT(bounds.report().log_upper - bounds.report().log_lower, 20.0);
}

TEST(WeightedMiniBucket, ShiftOfAFactorShiftsTheBounds) {
  Random random(55);
  for (int trial = 0; trial < 20; ++trial) {
    SCOPED_TRACE(trial);
    RandomModelOptions options = options_of_trial(trial);
    options.scale = 1.0;
    const FactorGraph graph = random_model(random, options);
    FactorGraph shifted;
    for (int v = 0; v < graph.num_variables(); ++v) shifted.add_variable(graph.num_states(v));
    for (int m = 0; m < graph.num_factors(); ++m) {
      std::vector<double> values = graph.factor(m).log_values();
      for (double& value : values) value += m == trial % graph.num_factors() ? 3.25 : 0.0;
      shifted.add_table(graph.factor(m).scope(), values);
    }
    const SearchSpace space = space_of(graph, SpaceKind::kAndOr);
    const MiniBucketOptions bound_options{.i_bound = 1, .passes = 4};
    const MiniBucketReport before = WeightedMiniBucket(graph, space, bound_options).report();
    const MiniBucketReport after =
        WeightedMiniBucket(shifted, make_search_space(shifted, search_order(graph, SpaceKind::kAndOr, {}), space.kind),
                           bound_options)
            .report();
    if (before.log_upper == kNegInf) {
      ASSERT_EQ(after.log_upper, kNegInf);
      continue;
    }
    ASSERT_NEAR(after.log_upper, before.log_upper + 3.25, 1e-8);
    ASSERT_EQ(before.has_lower, after.has_lower);
    if (!before.has_lower) continue;
    ASSERT_NEAR(after.log_lower, before.log_lower + 3.25, 1e-8);
  }
}

TEST(WeightedMiniBucket, ProposalIsNormalisedAndItsWeightsAreBounded) {
  Random random(56);
  int num_dead = 0;
  for (int trial = 0; trial < 40; ++trial) {
    SCOPED_TRACE(trial);
    const FactorGraph graph = random_model(random, options_of_trial(trial));
    const SearchSpace space = space_of(graph, kSpaces[trial % 3]);
    const WeightedMiniBucket bounds(graph, space, {.i_bound = trial % 3, .passes = 1 + trial % 4});
    const std::size_t num_configurations = enumerate(graph).log_probs.size();
    std::vector<double> total(space.levels.size(), 0.0);
    for (std::size_t i = 0; i < num_configurations; ++i) {
      const Assignment x = configuration_at(graph, i);
      // The log-density of everything below a level, from the last level up.
      std::vector<double> below(space.levels.size(), 0.0);
      for (int n = space.num_levels() - 1; n >= 0; --n) {
        for (const int m : space.levels[n].factors) below[n] += graph.log_value(m, x);
        for (const int j : space.levels[n].children) below[n] += below[j];
        const double log_q = bounds.log_prob_below(n, x);
        ASSERT_FALSE(std::isnan(log_q));
        num_dead += bounds.log_upper(n, x) == kNegInf ? 1 : 0;
        if (below[n] == kNegInf) continue;
        ASSERT_LE(below[n], bounds.log_upper(n, x) + log_q + 1e-12 * (1.0 + std::abs(below[n])));
      }
      double log_q = 0.0;
      for (const int root : space.roots) log_q += bounds.log_prob_below(root, x);
      total[0] += std::exp(log_q);
    }
    ASSERT_NEAR(total[0], 1.0, 1e-10);
  }
  EXPECT_GT(num_dead, 100);
}

TEST(WeightedMiniBucket, SamplesComeFromTheProposal) {
  Random random(57);
  const FactorGraph graph =
      random_model(random, {.num_variables = 5, .min_states = 2, .max_states = 2, .num_factors = 9, .max_arity = 3});
  const SearchSpace space = space_of(graph, SpaceKind::kAndOr);
  const WeightedMiniBucket bounds(graph, space, {.i_bound = 1});
  constexpr int kNumSamples = 20000;
  std::vector<int> counts(enumerate(graph).log_probs.size(), 0);
  std::vector<double> weights;
  for (int s = 0; s < kNumSamples; ++s) {
    Assignment x(static_cast<std::size_t>(graph.num_variables()), -1);
    double log_q = 0.0;
    double log_proposal = 0.0;
    for (const int root : space.roots) log_q += bounds.sample_below(root, x, random);
    for (const int root : space.roots) log_proposal += bounds.log_prob_below(root, x);
    ASSERT_NEAR(log_q, log_proposal, 1e-12);
    ++counts[configuration_index(graph, x)];
  }
  // Each frequency within 5.5 standard deviations: false alarms below 32 * 4e-8, fixed seed.
  for (std::size_t i = 0; i < counts.size(); ++i) {
    double log_q = 0.0;
    const Assignment x = configuration_at(graph, i);
    for (const int root : space.roots) log_q += bounds.log_prob_below(root, x);
    const double q = std::exp(log_q);
    EXPECT_NEAR(counts[i] / static_cast<double>(kNumSamples), q, 5.5 * std::sqrt(q * (1.0 - q) / kNumSamples) + 1e-4);
  }
}

TEST(WeightedMiniBucket, ExactPriorMakesTheSearchExactWithoutBudget) {
  Random random(58);
  for (int trial = 0; trial < 30; ++trial) {
    SCOPED_TRACE(trial);
    RandomModelOptions options = options_of_trial(trial);
    options.scale = 1.0;  // the search uses probabilities, which underflow for scales like 1e3
    const FactorGraph graph = random_model(random, options);
    const SearchSpace space = space_of(graph, kSpaces[trial % 3]);
    const auto prior = std::make_shared<WeightedMiniBucket>(graph, space);
    const QUctResult result = q_uct_search(graph, space, {.estimate = prior}, {.budget = trial % 4});
    const Enumeration expected = enumerate(graph);
    for (std::size_t i = 0; i < expected.log_probs.size() && expected.log_z > kNegInf; ++i) {
      if (expected.log_probs[i] == kNegInf) continue;
      ASSERT_NEAR(result.approximation->log_prob(configuration_at(graph, i)), expected.log_probs[i],
                  1e-9 * (1.0 + std::abs(expected.log_probs[i])));
    }
  }
}

// Drawing level by level gives the same distribution, and the total fall of the bound is the distance of the weight
// from it.
TEST(WeightedMiniBucket, StepsTellHowTheBoundFalls) {
  Random random(17, "steps");
  for (int i = 0; i < 20; ++i) {
    const FactorGraph graph = random_model(random, {.zero_probability = 0.1 * (i % 3)});
    const SearchSpace space = make_search_space(graph, search_order(graph, SpaceKind::kAndOr, {}), SpaceKind::kAndOr);
    const WeightedMiniBucket bounds(graph, space, {.i_bound = 1});
    if (bounds.report().log_upper == kNegInf) continue;
    for (int s = 0; s < 50; ++s) {
      Assignment x(static_cast<std::size_t>(graph.num_variables()), -1);
      double log_q = 0.0, log_fall = 0.0;
      for (int n = 0; n < space.num_levels(); ++n) {  // parents come first
        const auto step = bounds.sample_level(n, x, random);
        ASSERT_TRUE(step);
        EXPECT_GE(step->log_fall, -1e-9);
        log_q += step->log_prob;
        log_fall += step->log_fall;
      }
      double log_proposal = 0.0;
      for (const int root : space.roots) log_proposal += bounds.log_prob_below(root, x);
      EXPECT_NEAR(log_q, log_proposal, 1e-9);
      const double log_density = graph.log_density(x);
      if (log_fall == HUGE_VAL) {
        EXPECT_EQ(log_density, kNegInf);
      } else if (log_density != kNegInf) {
        EXPECT_NEAR(log_density - log_q, bounds.report().log_upper - log_fall, 1e-9);
      }
    }
  }
}

}  // namespace
}  // namespace treesample
