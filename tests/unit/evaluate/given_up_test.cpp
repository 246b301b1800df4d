// Samples by upper bounds whose weight is bound to be small: given up, and stood for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/bounded_importance.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {
namespace {

using testing::small_grid;

SearchApproximation upper_sampler(const FactorGraph& graph) {
  const SearchSpace space = make_search_space(graph, search_order(graph, SpaceKind::kAndOr, {}), SpaceKind::kAndOr);
  const auto buckets = std::make_shared<WeightedMiniBucket>(graph, space, MiniBucketOptions{.i_bound = 1});
  const LeafValues leaves = mini_bucket_leaves(graph, space, buckets, uniform_distributions(graph));
  return {search(graph, space, leaves, {.budget = 4}), SamplerKind::kUpper};
}

// Weights of samples that may be given up have the mean Z and the same bound, and those of who goes on beyond the least
// one only where the bound is at most that: with 1, all that are left are exact samples, as by rejection.
TEST(GivenUp, SamplesThatAreGivenUpAreStoodFor) {
  const FactorGraph graph = small_grid(3, 1.5);
  const Enumeration exact = enumerate(graph);
  const SearchApproximation upper = upper_sampler(graph);
  constexpr int kNumSamples = 40'000;
  for (const double least : {1e-300, 0.3, 1.0}) {
    Random random(5, "given up");
    Assignment x(static_cast<std::size_t>(graph.num_variables()), -1);
    std::vector<std::int64_t> counts(exact.log_probs.size(), 0);
    double sum = 0.0, squares = 0.0, num_left = 0.0;
    for (int i = 0; i < kNumSamples; ++i) {
      const double log_prob = upper.sample_or_give_up(x, random, least);
      if (log_prob == HUGE_VAL) continue;
      const double log_weight = graph.log_density(x) - log_prob - exact.log_z;
      EXPECT_LE(log_weight, upper.log_value() - exact.log_z + 1e-9);
      if (least == 1.0) {
        EXPECT_NEAR(log_weight, upper.log_value() - exact.log_z, 1e-9);
      }
      if (least < 1e-200) {
        EXPECT_NEAR(log_prob, upper.log_prob(x), 1e-9);
      }
      sum += std::exp(log_weight);
      squares += std::exp(2.0 * log_weight);
      ++num_left;
      ++counts[configuration_index(graph, x)];
    }
    const double mean = sum / kNumSamples, error = std::sqrt((squares / kNumSamples - mean * mean) / kNumSamples);
    EXPECT_NEAR(mean, 1.0, 5.0 * error) << least;
    EXPECT_EQ(num_left<kNumSamples, least> 1e-200) << least;
    if (least < 1.0) continue;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const double p = std::exp(exact.log_probs[i]);
      EXPECT_NEAR(static_cast<double>(counts[i]) / num_left, p, 6.0 * std::sqrt(p / num_left) + 6.0 / num_left);
    }
  }
  Assignment x(static_cast<std::size_t>(graph.num_variables()), -1);
  Random random(1, "wrong");
  EXPECT_THROW((void)upper.sample_or_give_up(x, random, 0.0), Error);
  EXPECT_THROW((void)upper.sample_or_give_up(x, random, 1.5), Error);
}

// Long enough for samples to be given up, which the intervals must not feel.
TEST(GivenUp, IntervalsMissNoMoreOftenWhereSamplesAreGivenUp) {
  int num_misses = 0;
  double num_given_up = 0.0;
  constexpr int kNumModels = 100;
  for (int i = 0; i < kNumModels; ++i) {
    const FactorGraph graph = small_grid(static_cast<std::uint64_t>(i), 2.0);
    const double log_z = enumerate(graph).log_z;
    const SearchApproximation upper = upper_sampler(graph);
    int num_drawn = 0, num_left = 0;
    const auto plain = [&](std::span<int> x, Random& random, StopCheck&) { return upper.sample_into(x, random); };
    const auto given_up = [&](std::span<int> x, Random& random, double least, StopCheck&) {
      // More of them than it would be in so small a model.
      const double log_prob = upper.sample_or_give_up(x, random, std::min(1.0, 20.0 * least));
      ++num_drawn;
      num_left += log_prob < HUGE_VAL ? 1 : 0;
      return log_prob;
    };
    const BoundedSampler sampler{upper.log_value(), plain, given_up};
    Random random(static_cast<std::uint64_t>(i), "given up, coverage");
    const BoundedImportanceOptions options{.max_samples = 3000, .confidence = 0.9};
    const BoundedImportance result = bounded_importance(graph, sampler, options, random);
    num_given_up += num_drawn - num_left;
    if (log_z < result.interval.lower || log_z > result.interval.upper) ++num_misses;
  }
  EXPECT_LE(num_misses, 10);
  EXPECT_GT(num_given_up, 50.0 * kNumModels);
}

}  // namespace
}  // namespace treesample
