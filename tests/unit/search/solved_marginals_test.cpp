#include "treesample/search/solved_marginals.hpp"

#include <gtest/gtest.h>

#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {
namespace {

SearchResult search(const FactorGraph& graph, SpaceKind kind, int i_bound, std::int64_t budget) {
  const SearchSpace space = make_search_space(graph, search_order(graph, kind, {}), kind);
  LeafValues leaves{.lower = product_value(graph, space, uniform_distributions(graph)),
                    .upper = maxima_value(graph, space)};
  if (i_bound > 0) {
    MiniBucketOptions options{.i_bound = i_bound};
    leaves = mini_bucket_leaves(graph, space, std::make_shared<WeightedMiniBucket>(graph, space, options),
                                uniform_distributions(graph));
  }
  return search(graph, space, leaves, {.budget = budget});
}

// Without mini-buckets everything is in the store; with them most or all is below.
TEST(SolvedMarginals, EqualEnumeration) {
  int num_compared = 0;
  for (int i = 0; i < 300; ++i) {
    Random random(i, "solved");
    const FactorGraph graph = testing::random_model(
        random, {.num_factors = 8, .min_arity = 0, .zero_probability = 0.15 * (i % 3), .scale = 1.5});
    const Enumeration exact = enumerate(graph);
    const SpaceKind kind = i % 2 == 0 ? SpaceKind::kAndOr : SpaceKind::kGraph;
    const SearchResult result = search(graph, kind, i % 5, 1'000'000);
    const SearchApproximation upper(result, SamplerKind::kUpper);
    const std::optional<Marginals> found = solved_marginals(result, upper);
    ASSERT_EQ(found.has_value(), exact.log_z != kNegInf) << i;
    if (!found) continue;
    ++num_compared;
    for (int v = 0; v < graph.num_variables(); ++v) {
      for (int s = 0; s < graph.num_states(v); ++s) ASSERT_NEAR((*found)[v][s], exact.marginals[v][s], 1e-9) << i;
    }
  }
  EXPECT_GT(num_compared, 150);
}

// Functions without maxima: there is no sampler by upper bounds, and in all spaces everything is in the store.
TEST(SolvedMarginals, OfASearchByMassEqualEnumeration) {
  int num_compared = 0;
  for (int i = 0; i < 90; ++i) {
    Random random(i, "solved by mass");
    const FactorGraph graph = testing::random_model(
        random,
        {.num_factors = 8, .min_arity = 0, .zero_probability = 0.15 * (i % 3), .scale = i % 4 == 0 ? 60.0 : 1.5});
    const Enumeration exact = enumerate(graph);
    const SpaceKind kind = i % 3 == 0 ? SpaceKind::kTree : i % 3 == 1 ? SpaceKind::kGraph : SpaceKind::kAndOr;
    const SearchSpace space = make_search_space(graph, search_order(graph, kind, {}), kind);
    SearchOptions options{.select = SelectRule::kMass};
    const SearchResult result = search(graph, space, {}, {}, options);
    ASSERT_EQ(result.report.stop, StopReason::kExact);
    const auto found = solved_marginals(result, {result, SamplerKind::kEstimate});
    ASSERT_EQ(found.has_value(), exact.log_z != kNegInf) << i;
    const SearchResult open = search(graph, space, {}, {.budget = 10}, options);
    if (open.report.stop != StopReason::kExact) {
      EXPECT_FALSE(solved_marginals(open, {open, SamplerKind::kEstimate}).has_value()) << i;
    }
    if (!found) continue;
    ++num_compared;
    for (int v = 0; v < graph.num_variables(); ++v) {
      for (int s = 0; s < graph.num_states(v); ++s) ASSERT_NEAR((*found)[v][s], exact.marginals[v][s], 1e-9) << i;
    }
  }
  EXPECT_GT(num_compared, 45);
}

TEST(SolvedMarginals, ThereAreNoneOfAnOpenSearchOrWithinALimit) {
  Random random(1);
  const FactorGraph graph = testing::random_model(random, {.num_variables = 8, .min_states = 2, .num_factors = 14});
  const SearchResult open = search(graph, SpaceKind::kAndOr, 0, 20);
  ASSERT_NE(open.report.stop, StopReason::kExact);
  EXPECT_FALSE(solved_marginals(open, {open, SamplerKind::kUpper}).has_value());
  const SearchResult solved = search(graph, SpaceKind::kAndOr, 8, 1'000'000);
  const SearchApproximation upper(solved, SamplerKind::kUpper);
  EXPECT_TRUE(solved_marginals(solved, upper).has_value());
  EXPECT_FALSE(solved_marginals(solved, upper, {.bytes = 10}).has_value());
  EXPECT_THROW(static_cast<void>(solved_marginals(solved, {solved, SamplerKind::kLower})), Error);
}

}  // namespace
}  // namespace treesample
