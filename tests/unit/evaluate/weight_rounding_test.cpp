// Weights of samples where large factors cancel: rounding is in the interval, and rejection says what it does to
// samples.
#include <gtest/gtest.h>

#include <cmath>

#include "support/random_models.hpp"
#include "treesample/evaluate/bounded_importance.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

SearchApproximation upper_sampler(const FactorGraph& graph) {
  const SearchSpace space = make_search_space(graph, search_order(graph, SpaceKind::kTree, {}), SpaceKind::kTree);
  LeafValues leaves{.upper = maxima_value(graph, space)};
  return {search(graph, space, leaves, {.budget = 0, .threads = 1}), SamplerKind::kUpper};
}

// Added up one by one, these functions lose 0.015 nats.
TEST(WeightRounding, TheIntervalAllowsForFunctionsThatCancel) {
  constexpr int kEach = 8000;
  constexpr double kLarge = 0x1.0p23, kMore = 0x1.0p-18;
  FactorGraph graph = testing::variables({2});
  const auto add = [&](double value) {
    graph.add_factor(Factor::function(
        {0}, [value](std::span<const int>) { return value; }, value));
  };
  for (int i = 0; i < kEach; ++i) add(kLarge + kMore);
  for (int i = 0; i < kEach; ++i) add(-kLarge);
  const double log_z = std::log(2.0) + kEach * kMore;
  const SearchApproximation upper = upper_sampler(graph);
  Random random(1);
  const BoundedImportance sampled = bounded_importance(graph, upper, {.max_samples = 1000}, random);
  EXPECT_LE(sampled.interval.lower, log_z);
  EXPECT_GE(sampled.interval.upper, log_z);
  EXPECT_NEAR(sampled.log_z, log_z, 1e-4);
}

TEST(WeightRounding, RejectionKnowsWhatFactorsThatCancelDo) {
  for (const double large : {0.0, 1e3, 1e10, 0x1.0p53}) {
    FactorGraph graph = testing::variables({2, 2});
    graph.add_table({0, 1}, {large, large + 4.0, large + 8.0, large});
    graph.add_table({1, 0}, {1.0, 0.0, 0.0, 1.0});
    graph.add_table({0, 1}, {-large, -large - 4.0, -large - 8.0, -large});
    const SearchApproximation upper = upper_sampler(graph);
    Random random(1);
    const RejectionSamples drawn = rejection_samples(graph, upper, {.num_samples = 10, .max_tries = 1000}, random);
    const double known = 0x1.0p-52 * large;  // log-values are known to one unit in the last place
    EXPECT_GE(drawn.log_error, 2.0 * known);
    EXPECT_LE(drawn.log_error, 3.0 * known + 1e-13);
  }
}

}  // namespace
}  // namespace treesample
