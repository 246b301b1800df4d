// Samples against log_prob. Each test is a chi-square over all configurations with a false-alarm rate
// of 1e-6: the statistic is compared with that quantile (Wilson-Hilferty approximation).
#include <gtest/gtest.h>

#include <cmath>

#include "support/random_models.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/search/tree_sample.hpp"

namespace treesample {
namespace {

double chi_square_quantile_1e6(double degrees) {
  constexpr double kNormalQuantile = 4.7534;  // of 1 - 1e-6
  const double t = 2.0 / (9.0 * degrees);
  return degrees * std::pow(1.0 - t + kNormalQuantile * std::sqrt(t), 3.0);
}

TEST(SearchSampling, SamplesFollowLogProb) {
  Random model_random(21);
  for (int variant = 0; variant < 12; ++variant) {
    testing::RandomModelOptions options;
    options.num_variables = 4;
    options.max_states = 3;
    options.zero_probability = variant % 3 == 0 ? 0.2 : 0.0;
    const FactorGraph graph = testing::random_model(model_random, options);
    const SpaceKind kind = static_cast<SpaceKind>(variant % 3);
    const SearchSpace space = make_search_space(graph, search_order(graph, kind, {}), kind);
    const SearchResult result = tree_sample(graph, space, {.budget = 5 + 10 * (variant / 3)});
    if (!std::isfinite(result.approximation.log_z())) continue;
    constexpr int kNumSamples = 40'000;
    std::vector<int> counts(static_cast<std::size_t>(std::lround(std::exp(graph.log_num_configurations()))), 0);
    Random random(variant, "samples");
    for (int i = 0; i < kNumSamples; ++i) ++counts[configuration_index(graph, result.approximation.sample(random))];
    double statistic = 0.0, pooled_expected = 0.0;
    int pooled_count = 0, num_cells = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const double expected = kNumSamples * std::exp(result.approximation.log_prob(configuration_at(graph, i)));
      if (expected == 0.0) {
        ASSERT_EQ(counts[i], 0);
      } else if (expected < 10.0) {  // small cells together
        pooled_expected += expected;
        pooled_count += counts[i];
      } else {
        statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
        ++num_cells;
      }
    }
    if (pooled_expected >= 10.0) {
      statistic += (pooled_count - pooled_expected) * (pooled_count - pooled_expected) / pooled_expected;
      ++num_cells;
    }
    if (num_cells > 1) {
      EXPECT_LT(statistic, chi_square_quantile_1e6(num_cells - 1)) << "variant " << variant;
    }
  }
}

}  // namespace
}  // namespace treesample
