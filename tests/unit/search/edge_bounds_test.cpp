#include "search/edge_bounds.hpp"

#include <gtest/gtest.h>

#include "support/random_models.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

void expect_equal(const BoundValues& a, const BoundValues& b) {
  EXPECT_EQ(a.lower().mantissa, b.lower().mantissa);
  EXPECT_EQ(a.lower().exponent, b.lower().exponent);
  EXPECT_EQ(a.upper().mantissa, b.upper().mantissa);
  EXPECT_EQ(a.upper().exponent, b.upper().exponent);
  EXPECT_EQ(a.estimate().mantissa, b.estimate().mantissa);
  EXPECT_EQ(a.estimate().exponent, b.estimate().exponent);
}

// Both steps together have the bits of one after the other, or leave the node as it was: with zeros, with values whose
// units differ, and with leaf values that lack a side.
TEST(EdgeBounds, BackingUpAPairIsGatheringAndBackingUp) {
  int num_pairs = 0, num_others = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Random random(trial, "edge bounds test");
    const double scale = trial % 3 == 0 ? 300.0 : 1.0;
    const FactorGraph graph = testing::random_model(random, {.num_variables = 8,
                                                             .min_states = 2,
                                                             .max_states = 2 + trial % 2,
                                                             .num_factors = 10,
                                                             .zero_probability = 0.1 * (trial % 2),
                                                             .scale = scale});
    const SpaceKind kind = trial % 4 == 0 ? SpaceKind::kGraph : SpaceKind::kAndOr;
    const SearchSpace space = make_search_space(graph, search_order(graph, kind, {}), kind);
    LeafValues leaves;
    if (trial % 5 != 0) leaves.upper = maxima_value(graph, space);
    if (trial % 7 != 0) leaves.lower = product_value(graph, space, uniform_distributions(graph));
    const SearchResult result = search(graph, space, leaves, {.budget = 5 + trial});
    const BoundStore& store = *result.store;
    EdgeBounds pair(space), steps(space);
    for (EdgeBounds* const edges : {&pair, &steps}) {
      edges->see_factors(graph, space);
      for (int n = 0; n < space.num_levels(); ++n) edges->see_rewards(n, std::vector{scale * 4.0}, std::vector{0.0});
    }
    for (int n = 0; n < space.num_levels(); ++n) {
      for (NodeIndex i = 0; i < store.end_index(n); ++i) {
        const BoundNode& original = store.node(n, i);
        if (!original.is_expanded()) continue;
        BoundNode by_pair = original, by_steps = original;
        steps.gather(store, n, by_steps);
        steps.back_up(by_steps);
        if (!pair.back_up_pair(store, n, by_pair)) {
          expect_equal(by_pair, original);
          ++num_others;
          continue;
        }
        ++num_pairs;
        expect_equal(by_pair, by_steps);
        EXPECT_EQ(by_pair.is_complete, by_steps.is_complete);
        EXPECT_EQ(pair.num_states(), steps.num_states());
        EXPECT_EQ(pair.num_open(), steps.num_open());
        EXPECT_EQ(pair.last_open(), steps.last_open());
        EXPECT_EQ(pair.widest(), steps.widest());
        for (int a = 0; a < 2; ++a) {
          EXPECT_EQ(pair.is_open(a), steps.is_open(a));
          EXPECT_EQ(pair.relative_log_estimate(a), steps.relative_log_estimate(a));
          expect_equal(pair.values(a), steps.values(a));
        }
      }
    }
  }
  EXPECT_GT(num_pairs, 1000);
  EXPECT_GT(num_others, 1000);
}

}  // namespace
}  // namespace treesample
