#include "treesample/evaluate/bounded_importance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/chi_square.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {
namespace {

using testing::random_model;
using testing::small_grid;

enum class Upper { kMaxima, kMiniBuckets };

SearchResult search(const FactorGraph& graph, int budget, Upper kind = Upper::kMaxima) {
  const SearchSpace space = make_search_space(graph, search_order(graph, SpaceKind::kAndOr, {}), SpaceKind::kAndOr);
  LeafValues leaves{.lower = product_value(graph, space, uniform_distributions(graph)),
                    .upper = maxima_value(graph, space)};
  if (kind == Upper::kMiniBuckets) {
    MiniBucketOptions bucket_options{.i_bound = 1};
    leaves = mini_bucket_leaves(graph, space, std::make_shared<WeightedMiniBucket>(graph, space, bucket_options),
                                uniform_distributions(graph));
  }
  return search(graph, space, leaves, {.budget = budget});
}

SearchApproximation upper_sampler(const FactorGraph& graph, int budget, Upper kind = Upper::kMaxima) {
  return {search(graph, budget, kind), SamplerKind::kUpper};
}

// Misses are rarer than allowed, also in runs with few samples. tests/statistical/betting_test.cpp counts them.
TEST(BoundedImportance, IntervalsMissLogZNoMoreOftenThanTheySay) {
  for (const double confidence : {0.5, 0.95}) {
    int num_misses = 0;
    constexpr int kNumModels = 400;
    for (int i = 0; i < kNumModels; ++i) {
      Random random(i, "coverage");
      const FactorGraph graph = random_model(random, {.min_arity = 0, .zero_probability = 0.1 * (i % 3), .scale = 1.5});
      const double log_z = enumerate(graph).log_z;
      const SearchApproximation upper =
          upper_sampler(graph, 4 * (i % 5), i % 2 == 0 ? Upper::kMaxima : Upper::kMiniBuckets);
      const BoundedImportanceOptions options{.max_samples = 20 << (i % 5), .confidence = confidence};
      const BoundedImportance result = bounded_importance(graph, upper, options, random);
      EXPECT_EQ(result.confidence, confidence);
      EXPECT_LE(result.interval.lower, result.interval.upper);
      EXPECT_LE(result.interval.upper, upper.log_value());
      if (log_z < result.interval.lower || log_z > result.interval.upper) ++num_misses;
    }
    EXPECT_LE(num_misses, (1.0 - confidence) * kNumModels);
  }
}

// What is known is any half of the configurations, with bounds of its mass that are as wide as they like.
TEST(BoundedImportance, IntervalsMissNoMoreOftenWhereAPartIsKnown) {
  int num_misses = 0, num_known = 0;
  constexpr int kNumModels = 400;
  for (int i = 0; i < kNumModels; ++i) {
    Random random(i, "known part");
    const FactorGraph graph = random_model(random, {.min_states = 2, .zero_probability = 0.1 * (i % 3), .scale = 1.5});
    const Enumeration exact = enumerate(graph);
    if (exact.log_z == kNegInf) continue;
    const SearchApproximation upper =
        upper_sampler(graph, 4 * (i % 5), i % 2 == 0 ? Upper::kMaxima : Upper::kMiniBuckets);
    const double log_mass = exact.log_z + std::log(exact.marginals[2][0]);
    const double error = 0.01 * (i % 2);
    BoundedImportanceOptions options{.max_samples = 20 << (i % 5)};
    options.known = KnownPart{LogBounds{log_mass, log_mass}.widened(error + 1e-12), log_mass,
                              [](std::span<const int> x) { return x[2] == 0; }};
    const BoundedImportance result = bounded_importance(graph, upper, options, random);
    EXPECT_LE(result.interval.lower, result.interval.upper);
    EXPECT_GE(result.interval.lower, options.known->log_mass.lower - 1e-9);
    EXPECT_LE(result.interval.upper, upper.log_value());
    EXPECT_GE(result.log_z, log_mass);
    num_known += exact.marginals[2][0] > 0.1 ? 1 : 0;
    if (exact.log_z < result.interval.lower || exact.log_z > result.interval.upper) ++num_misses;
  }
  EXPECT_GT(num_known, kNumModels / 2);
  EXPECT_LE(num_misses, 0.05 * kNumModels);
}

// Nine tenths of Z are known: the interval is about three times as short, sqrt(0.1), and never by chance no shorter.
TEST(BoundedImportance, WhatIsKnownMakesTheIntervalShorter) {
  FactorGraph graph = testing::variables({20});
  graph.add_table({0}, std::vector<double>(20, 0.0));
  const BoundedSampler sampler{std::log(40.0), [](std::span<int> x, Random& random, StopCheck&) {
                                 x[0] = static_cast<int>(random.below(20));
                                 return random.below(2) == 0 ? HUGE_VAL : -std::log(40.0);
                               }};
  BoundedImportanceOptions options{.max_samples = 4000};
  Random first(1, "shorter"), second(1, "shorter");
  const BoundedImportance without = bounded_importance(graph, sampler, options, first);
  options.known =
      KnownPart{{std::log(18.0), std::log(18.0)}, std::log(18.0), [](std::span<const int> x) { return x[0] < 18; }};
  const BoundedImportance with = bounded_importance(graph, sampler, options, second);
  const double ratio = (without.interval.upper - without.interval.lower) / (with.interval.upper - with.interval.lower);
  EXPECT_GT(ratio, 2.0);
  EXPECT_LT(with.std_error, 0.5 * without.std_error);
  EXPECT_NEAR(with.log_z, std::log(20.0), 0.03);
  EXPECT_GT(with.interval.upper, std::log(20.0));
  EXPECT_LT(with.interval.lower, std::log(20.0));
}

TEST(BoundedImportance, TheSameBitsForAnyNumberOfThreads) {
  const FactorGraph graph = small_grid(5, 1.5);
  const SearchApproximation upper = upper_sampler(graph, 20, Upper::kMiniBuckets);
  for (const std::int64_t num_samples : {1, 7, 8, 9, 255, 257, 5003}) {
    std::vector<BoundedImportance> results;
    std::vector<std::uint64_t> next;
    for (const int threads : {1, 2, 3, 7}) {
      Random random(9, "threads");
      BoundedImportanceOptions options{.max_samples = num_samples, .threads = threads};
      options.known = KnownPart{{0.0, 0.0}, 0.0, [](std::span<const int> x) { return x[0] == 0 && x[1] == 1; }};
      results.push_back(bounded_importance(graph, upper, options, random));
      next.push_back(random.bits());
    }
    for (std::size_t i = 1; i < results.size(); ++i) {
      EXPECT_EQ(results[i].num_samples, num_samples);
      EXPECT_EQ(results[i].log_z, results[0].log_z);
      EXPECT_EQ(results[i].interval.lower, results[0].interval.lower);
      EXPECT_EQ(results[i].interval.upper, results[0].interval.upper);
      EXPECT_EQ(results[i].ess, results[0].ess);
      EXPECT_EQ(results[i].marginals, results[0].marginals);
      EXPECT_EQ(results[i].best.x, results[0].best.x);
      EXPECT_EQ(results[i].spent.factor_evaluations, results[0].spent.factor_evaluations);
      EXPECT_EQ(next[i], next[0]);
    }
  }
}

// Asked after every sample, whoever drew ahead.
TEST(BoundedImportance, SeveralThreadsEndAtTheSameSample) {
  const FactorGraph graph = small_grid(6, 1.0);
  const SearchApproximation upper = upper_sampler(graph, 20);
  for (const int threads : {1, 3}) {
    Random random(2);
    int num_asked = 0;
    const BoundedImportance result = bounded_importance(graph, upper, {.threads = threads}, random,
                                                        {.should_stop = [&] { return ++num_asked == 21; }});
    EXPECT_EQ(result.num_samples, 21);
  }
  Random random(2);
  EXPECT_THROW(bounded_importance(graph, upper, {.threads = 0}, random), Error);
}

// Weights 1 and 0 with equal probability: little longer than by the central limit theorem.
TEST(BoundedImportance, IntervalIsOneByBetting) {
  FactorGraph graph = testing::variables({2});
  graph.add_factor(Factor::function(
      {0}, [](std::span<const int> x) { return x[0] == 0 ? 0.0 : kNegInf; }, 0.0));
  const SearchSpace space = make_search_space(graph, std::vector<int>{0}, SpaceKind::kTree);
  LeafValues leaves{.upper = maxima_value(graph, space)};
  const SearchResult unsearched = search(graph, space, leaves, {.budget = 0});
  const SearchApproximation upper(unsearched, SamplerKind::kUpper);
  ASSERT_NEAR(upper.log_value(), std::log(2.0), 1e-9);
  Random random(1);
  constexpr int kCount = 1000;
  const BoundedImportance result = bounded_importance(graph, upper, {.max_samples = kCount, .confidence = 0.9}, random);
  const double mean = std::exp(result.log_z) / 2.0;
  EXPECT_NEAR(mean, 0.5, 5.0 * 0.5 / std::sqrt(kCount));
  const double variance = mean * (1.0 - mean) * kCount / (kCount - 1.0);
  const double radius = 1.645 * std::sqrt(variance / kCount);
  EXPECT_LT(result.interval.lower, std::log(2.0 * (mean - radius)));
  EXPECT_GT(result.interval.lower, std::log(2.0 * (mean - 2.5 * radius)));
  EXPECT_GT(result.interval.upper, std::log(2.0 * (mean + radius)));
  EXPECT_LT(result.interval.upper, std::log(2.0 * (mean + 2.5 * radius)));
  EXPECT_NEAR(result.ess, mean * kCount, 1e-6);
  EXPECT_NEAR(result.std_error, std::sqrt((1.0 / mean - 1.0) / (kCount - 1.0)), 1e-9);
}

// Estimates are compared at 5 standard errors: a false alarm in 2e6 each.
TEST(BoundedImportance, LogZAndMarginalsConvergeAndKnowTheirErrors) {
  for (int i = 0; i < 6; ++i) {
    const FactorGraph graph = small_grid(i, 0.7);
    const Enumeration exact = enumerate(graph);
    const SearchApproximation upper = upper_sampler(graph, 10 * i, i % 2 == 0 ? Upper::kMaxima : Upper::kMiniBuckets);
    Random random(i, "samples");
    double error_before = std::numeric_limits<double>::infinity();
    double width_before = std::numeric_limits<double>::infinity();
    for (const int count : {1000, 10'000, 100'000}) {
      const BoundedImportance result = bounded_importance(graph, upper, {.max_samples = count}, random);
      EXPECT_EQ(result.num_samples, count);
      const double width = result.interval.upper - result.interval.lower;
      EXPECT_LE(width, width_before);  // infinite as long as L is -inf
      if (!result.no_error.empty()) {
        EXPECT_TRUE(std::isinf(result.std_error) && result.marginal_errors.empty() && result.marginals_error == 1.0);
        continue;
      }
      EXPECT_TRUE(std::isfinite(width));
      EXPECT_NEAR(result.log_z, exact.log_z, 5.0 * result.std_error);
      EXPECT_LT(result.std_error, 0.5 * error_before);
      EXPECT_GT(result.std_error, 0.0);
      for (int v = 0; v < graph.num_variables(); ++v) {
        for (int a = 0; a < 2; ++a) {
          EXPECT_NEAR(result.marginals[v][a], exact.marginals[v][a], 5.0 * result.marginal_errors[v]);
        }
        EXPECT_LE(result.marginal_errors[v], result.marginals_error);
      }
      EXPECT_GT(result.marginals_error, 0.0);
      EXPECT_LT(result.marginals_error, 5.0 / std::sqrt(result.ess) + 1.0 / kFewestHits);
      error_before = result.std_error;
      width_before = width;
    }
    EXPECT_LT(width_before, 2.0);
  }
}

TEST(BoundedImportance, IsExactForASolvedSearch) {
  const FactorGraph graph = small_grid(1, 1.0);
  const double log_z = enumerate(graph).log_z;
  Random random(2);
  const BoundedImportance result = bounded_importance(graph, upper_sampler(graph, 1 << 20), {}, random);
  EXPECT_NEAR(result.log_z, log_z, 1e-9);
  // Samples alone cannot tell that nothing was missed.
  EXPECT_NEAR(result.std_error, 1.0 / static_cast<double>(result.num_samples), 1e-6);
  EXPECT_NEAR(result.ess, static_cast<double>(result.num_samples), 1e-3);
}

// One weight that dwarfs the others tells nothing of what was missed.
TEST(BoundedImportance, MarginalsOfFewEffectiveSamplesAreNotCalledAccurate) {
  const FactorGraph graph = small_grid(3, 30.0);
  Random random(4);
  const BoundedImportance result = bounded_importance(graph, upper_sampler(graph, 0), {.max_samples = 20}, random);
  ASSERT_LT(result.ess, 1.2);
  EXPECT_FALSE(result.no_error.empty());
  EXPECT_EQ(result.marginals_error, 1.0);
  EXPECT_TRUE(result.marginal_errors.empty());
  EXPECT_TRUE(std::isinf(result.std_error));
}

TEST(BoundedImportance, CountsWhatItEvaluatesAndKeepsTheBest) {
  FactorGraph graph = testing::variables({2, 2});
  graph.add_table({}, {3.0});
  graph.add_table({0}, {0.0, 1.0});
  graph.add_table({0, 1}, {0.0, 1.0, 2.0, 3.0});
  Random random(3);
  const BoundedImportance result = bounded_importance(graph, upper_sampler(graph, 0), {.max_samples = 200}, random);
  EXPECT_EQ(result.spent.reward_evaluations, 400);
  EXPECT_EQ(result.spent.factor_evaluations, 400);
  EXPECT_EQ(result.best.x, (Assignment{1, 1}));
  EXPECT_DOUBLE_EQ(result.best.log_density, 7.0);
}

TEST(BoundedImportance, StopsWhenAsked) {
  const FactorGraph graph = small_grid(1, 1.0);
  const SearchApproximation upper = upper_sampler(graph, 0);
  Random random(1);
  int num_asked = 0;
  int num_told = 0;
  const Observer observer{[&](const Progress& now) { EXPECT_EQ(now.num_samples, ++num_told); },
                          [&] { return ++num_asked == 7; }};
  EXPECT_EQ(bounded_importance(graph, upper, {}, random, observer).num_samples, 7);
  EXPECT_EQ(num_told, 7);
  const BoundedImportance one = bounded_importance(graph, upper, {}, random, {.should_stop = [] { return true; }});
  EXPECT_EQ(one.num_samples, 1);
  EXPECT_EQ(one.interval.lower, kNegInf);
  EXPECT_EQ(one.interval.upper, upper.log_value());
  EXPECT_EQ(one.std_error, std::numeric_limits<double>::infinity());
}

// Of a model so large that a sample takes milliseconds.
TEST(BoundedImportance, ALongSampleIsDroppedWhenAsked) {
  FactorGraph graph;
  constexpr int kNumVariables = 20'000;
  for (int v = 0; v < kNumVariables; ++v) graph.add_variable(2);
  for (int v = 0; v + 1 < kNumVariables; ++v) graph.add_table({v, v + 1}, {0.5, 0.0, 0.0, 1.0});
  for (const Upper kind : {Upper::kMaxima, Upper::kMiniBuckets}) {
    const SearchApproximation upper = upper_sampler(graph, 0, kind);
    for (const int threads : {1, 3}) {
      int num_asked = 0;
      BoundedImportanceOptions options{.max_samples = 400, .threads = threads};
      options.should_drop = [&] { return ++num_asked == 3; };
      Random random(1);
      const BoundedImportance result = bounded_importance(graph, upper, options, random);
      EXPECT_LT(result.num_samples, threads == 1 ? 3 : 400);  // the calling thread asks in each of its own
    }
  }
}

// A zero that the bounds know of, and one that they do not.
TEST(BoundedImportance, ModelsWithoutMassHaveLogZMinusInfinity) {
  FactorGraph known = testing::variables({2});
  known.add_table({0}, {kNegInf, kNegInf});
  Random random(1);
  const BoundedImportance none = bounded_importance(known, upper_sampler(known, 0), {}, random);
  EXPECT_EQ(none.log_z, kNegInf);
  EXPECT_EQ(none.interval.upper, kNegInf);
  EXPECT_EQ(none.num_samples, 0);
  EXPECT_TRUE(none.marginals.empty());
  EXPECT_TRUE(none.best.x.empty());

  FactorGraph hidden = testing::variables({2, 2});
  hidden.add_table({0, 1}, {0.0, kNegInf, kNegInf, 0.0});
  hidden.add_table({0, 1}, {kNegInf, 0.0, 0.0, kNegInf});
  const BoundedImportance all_zero = bounded_importance(hidden, upper_sampler(hidden, 0), {}, random);
  EXPECT_EQ(all_zero.log_z, kNegInf);
  EXPECT_EQ(all_zero.interval.lower, kNegInf);
  EXPECT_GT(all_zero.interval.upper, kNegInf);
  EXPECT_LT(all_zero.interval.upper, std::log(4.0) - 4.0);  // none of 10,000 samples had weight
  EXPECT_TRUE(all_zero.marginals.empty());
  EXPECT_TRUE(all_zero.best.x.empty());
}

TEST(BoundedImportance, RejectsOtherSamplersAndBadOptions) {
  const FactorGraph graph = small_grid(1, 1.0);
  const SearchResult result = search(graph, 10);
  Random random(1);
  for (const SamplerKind kind : {SamplerKind::kLower, SamplerKind::kEstimate}) {
    const SearchApproximation other(result, kind);
    EXPECT_THROW(bounded_importance(graph, other, {}, random), Error);
    EXPECT_THROW(rejection_samples(graph, other, {}, random), Error);
  }
  const SearchApproximation upper(result, SamplerKind::kUpper);
  EXPECT_THROW(bounded_importance(graph, upper, {.max_samples = 0}, random), Error);
  EXPECT_THROW(bounded_importance(graph, upper, {.confidence = 0.0}, random), Error);
  EXPECT_THROW(bounded_importance(graph, upper, {.confidence = 1.0}, random), Error);
}

TEST(BoundedImportance, SameSeedGivesTheSameBits) {
  const FactorGraph graph = small_grid(1, 1.0);
  const SearchApproximation upper = upper_sampler(graph, 20);
  Random first(5);
  Random second(5);
  const BoundedImportance a = bounded_importance(graph, upper, {.max_samples = 500}, first);
  const BoundedImportance b = bounded_importance(graph, upper, {.max_samples = 500}, second);
  EXPECT_EQ(a.log_z, b.log_z);
  EXPECT_EQ(a.interval.lower, b.interval.lower);
  EXPECT_EQ(a.marginals, b.marginals);
}

TEST(RejectionSamples, FollowTheTargetAndTakeTheExpectedTries) {
  for (int i = 0; i < 6; ++i) {
    Random model_random(i, "rejection");
    const FactorGraph graph =
        random_model(model_random, {.num_variables = 4, .min_states = 2, .zero_probability = 0.1 * (i % 3)});
    const Enumeration exact = enumerate(graph);
    if (exact.log_z == kNegInf) continue;
    const SearchApproximation upper = upper_sampler(graph, 6 * i, i % 2 == 0 ? Upper::kMaxima : Upper::kMiniBuckets);
    constexpr int kCount = 20'000;
    Random random(i, "samples");
    const RejectionSamples drawn = rejection_samples(graph, upper, {.num_samples = kCount}, random);
    ASSERT_EQ(drawn.samples.size(), kCount);
    std::vector<int> counts(exact.log_probs.size(), 0);
    for (const Assignment& x : drawn.samples) ++counts[configuration_index(graph, x)];
    SCOPED_TRACE(::testing::Message() << "model " << i);
    testing::expect_counts_follow(counts, exact.log_probs);
    // The number of tries is negative binomial; 5 standard deviations.
    const double acceptance = std::exp(exact.log_z - upper.log_value());
    const double expected = kCount / acceptance;
    EXPECT_NEAR(static_cast<double>(drawn.num_tries), expected,
                5.0 * std::sqrt(kCount * (1.0 - acceptance)) / acceptance + 1.0);
  }
}

TEST(RejectionSamples, EndAtTheLimitOfTries) {
  const FactorGraph graph = small_grid(2, 1.0);
  const SearchApproximation upper = upper_sampler(graph, 0);
  Random random(1);
  const RejectionSamples drawn = rejection_samples(graph, upper, {.num_samples = 1000, .max_tries = 50}, random);
  EXPECT_EQ(drawn.num_tries, 50);
  EXPECT_LT(drawn.samples.size(), 50U);
  EXPECT_EQ(rejection_samples(graph, upper, {.num_samples = 0}, random).num_tries, 0);
  int num_asked = 0;
  const Observer observer{.should_stop = [&] { return ++num_asked == 7; }};
  EXPECT_EQ(rejection_samples(graph, upper, {.num_samples = 1000}, random, observer).num_tries, 7);
}

// Without mass there is nothing to draw: the sampler says so instead of trying for ever.
TEST(RejectionSamples, ThereAreNoneOfAnImpossibleModel) {
  FactorGraph graph = testing::variables({2});
  graph.add_table({0}, {kNegInf, kNegInf});
  const SearchApproximation upper = upper_sampler(graph, 0);
  Random random(1);
  const RejectionSamples drawn = rejection_samples(graph, upper, {.num_samples = 3}, random);
  EXPECT_TRUE(drawn.samples.empty());
}

}  // namespace
}  // namespace treesample
