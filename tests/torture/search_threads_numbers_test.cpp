// Certified numbers of a search by several threads against enumeration with 113 bits, after every round.
#include <gtest/gtest.h>

#include "torture/torture.hpp"
#include "treesample/search/search.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {
namespace {

using testing::below;
using testing::expect_contains;
using testing::num_trials;
using testing::Quad;
using testing::TortureModel;

LeafValues random_leaves(const FactorGraph& graph, const SearchSpace& space, Random& random) {
  LeafValues leaves;
  if (below(random, 2) == 0) {
    MiniBucketOptions options{.i_bound = below(random, 2)};
    const auto buckets = std::make_shared<const WeightedMiniBucket>(graph, space, options);
    return mini_bucket_leaves(graph, space, buckets, uniform_distributions(graph));
  }
  leaves.upper = maxima_value(graph, space);
  if (below(random, 2) == 0) leaves.lower = product_value(graph, space, uniform_distributions(graph));
  return leaves;
}

TEST(SearchThreadsNumbers, BoundsHoldAfterEveryRound) {
  int num_shared = 0;
  for (int trial = 0; trial < num_trials(1000); ++trial) {
    Random random(trial, "threads");
    const TortureModel model = testing::torture_model(random, {.max_variables = 10, .has_functions = false});
    SCOPED_TRACE(::testing::Message() << "trial " << trial << ", " << model.text);
    const FactorGraph& graph = model.graph;
    const SearchSpace space =
        make_search_space(graph, random.permutation(graph.num_variables()), static_cast<SpaceKind>(below(random, 3)));
    const LeafValues leaves = random_leaves(graph, space, random);
    const SearchOptions options{.expansions_per_traversal = 1 + below(random, 3),
                                .dive_interval = below(random, 3),
                                .observer_interval = 1,
                                .expansions_before_sharing = 1 + below(random, 4),
                                .traversals_per_round = 1 + below(random, 3)};
    constexpr int kThreads[] = {2, 3, 8};
    Limits limits{.threads = kThreads[below(random, 3)]};
    int num_told = 0;
    LogBounds before;
    const auto check = [&](const Progress& now) {
      ++num_told;
      expect_contains(now.log_z, model);
      EXPECT_GE(now.log_z.lower, before.lower);
      EXPECT_LE(now.log_z.upper, before.upper);
      before = now.log_z;
    };
    const bool is_tight = below(random, 4) == 0;
    if (is_tight) limits.bytes = 16000;  // too little: nodes are given back and searched again
    try {
      const SearchReport report =
          search(graph, space, leaves, limits, options,
                 {check, [&] { return ::testing::Test::HasFailure() || (is_tight && num_told > 300); }})
              .report;
      expect_contains(report.log_z, model);
      if (report.num_threads > 1) ++num_shared;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kNumeric) << error.what();  // outside of its range, which it reports
      EXPECT_TRUE(model.is_beyond_range);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(num_shared, num_trials(1000) / 20);
}

}  // namespace
}  // namespace treesample
