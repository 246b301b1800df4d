#include "value/mini_bucket_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_models.hpp"
#include "treesample/math/random.hpp"
#include "treesample/value/plan_mini_buckets.hpp"

namespace treesample {
namespace {

using testing::random_model;

bool holds(const std::vector<int>& large, std::span<const int> small) {
  return std::all_of(small.begin(), small.end(),
                     [&](int v) { return std::find(large.begin(), large.end(), v) != large.end(); });
}

void expect_sound(const FactorGraph& graph, const SearchSpace& space, const MiniBucketPlan& plan) {
  std::vector<int> uses(static_cast<std::size_t>(graph.num_factors()), 0);
  std::vector<int> deliveries(plan.clusters.size(), 0);
  for (std::size_t c = 0; c < plan.clusters.size(); ++c) {
    const MiniBucketPlan::Cluster& cluster = plan.clusters[c];
    ASSERT_EQ(cluster.scope.back(), space.levels[cluster.level].variable);
    std::size_t largest_input = 0;
    for (const int m : cluster.factors) {
      ++uses[m];
      ASSERT_TRUE(holds(cluster.scope, graph.factor(m).scope()));
      largest_input = std::max(largest_input, graph.factor(m).scope().size());
    }
    for (const int child : cluster.children) {
      ++deliveries[child];
      ASSERT_EQ(plan.clusters[child].parent, static_cast<int>(c));
      ASSERT_TRUE(holds(cluster.scope, plan.clusters[child].separator()));
      largest_input = std::max(largest_input, plan.clusters[child].separator().size());
    }
    ASSERT_LE(cluster.scope.size(), std::max(largest_input, static_cast<std::size_t>(plan.i_bound) + 1));
    ASSERT_TRUE(holds(cluster.scope, cluster.shift_scope));
  }
  for (int m = 0; m < graph.num_factors(); ++m) ASSERT_EQ(uses[m], graph.factor(m).scope().empty() ? 0 : 1);
  for (std::size_t c = 0; c < plan.clusters.size(); ++c) {
    ASSERT_EQ(deliveries[c], plan.clusters[c].separator().empty() ? 0 : 1);
  }
  for (const MiniBucketPlan::Bucket& bucket : plan.buckets) {
    ASSERT_GE(bucket.count, 1);
    ASSERT_EQ(bucket.matches.empty(), bucket.count == 1);
    for (const MiniBucketPlan::Match& match : bucket.matches) {
      ASSERT_GE(match.clusters.size(), 2U);
      for (const int c : match.clusters) ASSERT_TRUE(holds(plan.clusters[c].shift_scope, match.scope));
    }
  }
}

TEST(MiniBucketPlan, UsesEveryFactorAndMessageOnceWithinTheBound) {
  Random random(41);
  int num_split = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const FactorGraph graph = random_model(
        random, {.num_variables = 1 + trial % 9, .num_factors = trial % 14, .min_arity = 0, .max_arity = 4});
    for (const SpaceKind kind : {SpaceKind::kTree, SpaceKind::kGraph, SpaceKind::kAndOr}) {
      const SearchSpace space = make_search_space(graph, search_order(graph, kind, {}), kind);
      for (int i = 0; i <= space.width(); ++i) {
        const MiniBucketPlan plan = make_mini_bucket_plan(graph, space, i);
        ASSERT_NO_FATAL_FAILURE(expect_sound(graph, space, plan));
        num_split += plan.is_exact() ? 0 : 1;
      }
      EXPECT_TRUE(make_mini_bucket_plan(graph, space, space.width()).is_exact());
    }
  }
  EXPECT_GT(num_split, 50);
}

TEST(MiniBucketPlan, SplitsAStarIntoPairs) {
  FactorGraph graph = testing::variables(4, 2);
  for (int v = 0; v < 3; ++v) graph.add_table({v, 3}, {0.0, 0.0, 0.0, 0.0});
  const SearchSpace space = make_search_space(graph, std::vector<int>{0, 1, 2, 3}, SpaceKind::kAndOr);
  const MiniBucketPlan pairs = make_mini_bucket_plan(graph, space, 1);
  EXPECT_EQ(pairs.buckets[3].count, 3);
  ASSERT_EQ(pairs.buckets[3].matches.size(), 1U);  // all pairs share the hub alone
  EXPECT_EQ(pairs.buckets[3].matches[0].scope, std::vector<int>{3});
  EXPECT_EQ(pairs.buckets[3].matches[0].clusters.size(), 3U);
  EXPECT_EQ(make_mini_bucket_plan(graph, space, 2).buckets[3].count, 2);
  EXPECT_EQ(make_mini_bucket_plan(graph, space, 3).buckets[3].count, 1);
  // Exact: messages over 3, 2, 1 and 0 variables, nothing else.
  EXPECT_EQ(make_mini_bucket_plan(graph, space, 3).peak_bytes, 8.0 * (8 + 4 + 2 + 1));
}

// What is planned for an order is what it gets.
TEST(MiniBucketPlan, TellsBeforehandWhatMiniBucketsWillBe) {
  Random random(43);
  int num_split = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const FactorGraph graph =
        random_model(random, {.num_variables = 8, .num_factors = 14, .min_arity = 2, .max_arity = 3});
    const SearchSpace space = make_search_space(graph, search_order(graph, SpaceKind::kAndOr, {}), SpaceKind::kAndOr);
    for (const bool lower_bound : {false, true}) {
      const MiniBucketOptions options{.wanted_bytes = 60U << (trial % 5), .passes = 1, .lower_bound = lower_bound};
      const MiniBucketReport planned = plan_mini_buckets(graph, space, options);
      const MiniBucketReport made = WeightedMiniBucket(graph, space, options).report();
      EXPECT_EQ(planned.i_bound, made.i_bound);
      EXPECT_EQ(planned.num_clusters, made.num_clusters);
      EXPECT_EQ(planned.is_exact, made.is_exact);
      EXPECT_EQ(planned.bytes, made.bytes);
      num_split += planned.is_exact ? 0 : 1;
    }
  }
  EXPECT_GT(num_split, 5);
}

}  // namespace
}  // namespace treesample
