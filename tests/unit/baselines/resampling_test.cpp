#include "treesample/baselines/resampling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace treesample {
namespace {

constexpr ResamplingScheme kSchemes[] = {ResamplingScheme::kMultinomial, ResamplingScheme::kStratified,
                                         ResamplingScheme::kSystematic};

std::vector<int> offspring_of(ResamplingScheme scheme, const std::vector<double>& weights, int count, Random& random) {
  std::vector<int> parents(count, -1);
  resample(scheme, weights, parents, random);
  EXPECT_TRUE(std::is_sorted(parents.begin(), parents.end()));
  std::vector<int> offspring(weights.size(), 0);
  for (const int parent : parents) ++offspring.at(parent);
  return offspring;
}

// Mean offspring = count * weight / total. With 27 comparisons at 5 standard errors a false alarm occurs in
// fewer than 2 of 1e5 seeds.
TEST(Resampling, ExpectedOffspringIsProportionalToTheWeights) {
  const std::vector<double> weights = {0.0, 3.0, 0.5, 0.0, 1.0, 7.25, 0.01, 2.0, 0.0};
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  constexpr int kCount = 7;  // not the number of weights
  constexpr int kRuns = 20'000;
  for (const ResamplingScheme scheme : kSchemes) {
    SCOPED_TRACE(to_string(scheme));
    Random random(11);
    std::vector<double> sum(weights.size(), 0.0);
    std::vector<double> sum_of_squares(weights.size(), 0.0);
    for (int run = 0; run < kRuns; ++run) {
      const std::vector<int> offspring = offspring_of(scheme, weights, kCount, random);
      for (std::size_t i = 0; i < weights.size(); ++i) {
        sum[i] += offspring[i];
        sum_of_squares[i] += offspring[i] * offspring[i];
      }
    }
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double mean = sum[i] / kRuns;
      const double variance = sum_of_squares[i] / kRuns - mean * mean;
      EXPECT_NEAR(mean, kCount * weights[i] / total, 5.0 * std::sqrt(variance / kRuns) + 1e-12) << i;
      if (weights[i] == 0.0) {
        EXPECT_EQ(sum[i], 0.0);
      }
      if (scheme == ResamplingScheme::kMultinomial) {
        const double p = weights[i] / total;
        EXPECT_NEAR(variance, kCount * p * (1.0 - p), 0.06 * kCount * p + 1e-12) << i;
      }
    }
  }
}

// The defining property of the two schemes with little noise.
TEST(Resampling, OffspringOfLowVarianceSchemesIsNearItsMean) {
  Random random(12);
  for (int run = 0; run < 300; ++run) {
    std::vector<double> weights(1 + random.below(20));
    for (double& weight : weights) weight = random.gamma(0.3) + 1e-12;
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    const int count = 1 + static_cast<int>(random.below(30));
    const std::vector<int> systematic = offspring_of(ResamplingScheme::kSystematic, weights, count, random);
    const std::vector<int> stratified = offspring_of(ResamplingScheme::kStratified, weights, count, random);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      ASSERT_LT(std::abs(systematic[i] - count * weights[i] / total), 1.0 + 1e-9);
      ASSERT_LT(std::abs(stratified[i] - count * weights[i] / total), 2.0 + 1e-9);
    }
  }
}

TEST(Resampling, EqualWeightsKeepEveryParticleInLowVarianceSchemes) {
  Random random(13);
  const std::vector<double> weights(8, 0.3);
  EXPECT_EQ(offspring_of(ResamplingScheme::kStratified, weights, 8, random), std::vector<int>(8, 1));
  EXPECT_EQ(offspring_of(ResamplingScheme::kSystematic, weights, 8, random), std::vector<int>(8, 1));
}

TEST(Resampling, OneParticleHasAllOffspring) {
  for (const ResamplingScheme scheme : kSchemes) {
    Random random(14);
    EXPECT_EQ(offspring_of(scheme, {0.0, 1e-300, 0.0}, 5, random), (std::vector<int>{0, 5, 0}));
  }
}

}  // namespace
}  // namespace treesample
