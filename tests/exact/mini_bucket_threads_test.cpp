// Mini-buckets by several threads: the same bits, and the same ways to end.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/math/random.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {
namespace {

using testing::random_model;
using testing::RandomModelOptions;

SearchSpace space_of(const FactorGraph& graph) {
  return make_search_space(graph, search_order(graph, SpaceKind::kAndOr, {}), SpaceKind::kAndOr);
}

FactorGraph binary_model(std::uint64_t seed, int num_variables, int num_factors) {
  Random random(seed);
  return random_model(random, {.num_variables = num_variables,
                               .min_states = 2,
                               .max_states = 2,
                               .num_factors = num_factors,
                               .min_arity = 2,
                               .max_arity = 3});
}

// U and L at random states of all contexts, and the bounds of log Z.
std::vector<double> numbers_of(const WeightedMiniBucket& bounds, const FactorGraph& graph, const SearchSpace& space) {
  std::vector<double> numbers = {bounds.report().log_upper, bounds.report().log_lower};
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    Assignment x;
    for (int v = 0; v < graph.num_variables(); ++v) {
      x.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(graph.num_states(v)))));
    }
    for (int n = 0; n < space.num_levels(); ++n) {
      numbers.push_back(bounds.log_upper(n, x));
      numbers.push_back(bounds.log_lower(n, x));
    }
  }
  return numbers;
}

// Clusters of 2^16 entries are 32 blocks, which several threads share. Scopes that two clusters have in common are
// small and large.
TEST(WeightedMiniBucketThreads, SameBitsForAnyNumber) {
  for (const double zeros : {0.0, 0.05}) {
    Random random(55);
    const FactorGraph graph = random_model(random, {.num_variables = 20,
                                                    .min_states = 2,
                                                    .max_states = 3,
                                                    .num_factors = 150,
                                                    .min_arity = 1,
                                                    .max_arity = 3,
                                                    .zero_probability = zeros});
    const SearchSpace space = space_of(graph);
    const auto with = [&](int threads) {
      const WeightedMiniBucket bounds(graph, space, {.i_bound = 11, .passes = 3, .threads = threads});
      EXPECT_FALSE(bounds.report().is_exact);
      EXPECT_EQ(bounds.report().has_lower, zeros == 0.0);
      return numbers_of(bounds, graph, space);
    };
    const std::vector<double> one = with(1);
    EXPECT_GE(one[0], Elimination(graph).log_z());
    EXPECT_LE(one[1], Elimination(graph).log_z());
    for (const int threads : {2, 3, 8}) EXPECT_EQ(with(threads), one) << threads;
  }
}

TEST(WeightedMiniBucketThreads, EndWhenAskedAndKeepTheBestPass) {
  const FactorGraph graph = binary_model(56, 22, 200);
  const SearchSpace space = space_of(graph);
  for (const int threads : {3, 8}) {  // with 8 both bounds are made at the same time
    int num_asked = 0;
    MiniBucketOptions options{.i_bound = 11, .threads = threads};
    // After some calls, in the middle of a later pass.
    options.should_settle = [&] { return ++num_asked > 200; };
    const MiniBucketReport settled = WeightedMiniBucket(graph, space, options).report();
    EXPECT_FALSE(settled.is_exact);
    EXPECT_LT(settled.upper_passes, 10);
    EXPECT_EQ(settled.has_lower, threads == 8);
    const auto with_passes = [&](int passes) {
      return WeightedMiniBucket(graph, space, {.i_bound = 11, .passes = passes}).report();
    };
    EXPECT_EQ(settled.log_upper, with_passes(settled.upper_passes).log_upper);
    if (settled.has_lower) {
      EXPECT_EQ(settled.log_lower, with_passes(settled.lower_passes).log_lower);
    }
    options.should_settle = {};
    num_asked = 0;
    options.should_stop = [&] { return ++num_asked > 20; };
    testing::expect_error(ErrorCode::kInterrupted, [&] { WeightedMiniBucket(graph, space, options); });
  }
}

// The caller's functions need not be safe for threads: only the calling one uses them.
TEST(WeightedMiniBucketThreads, OnlyTheCallingThreadAsksAndTells) {
  const FactorGraph graph = binary_model(60, 18, 120);
  const SearchSpace space = space_of(graph);
  const std::thread::id caller = std::this_thread::get_id();
  int num_others = 0;
  const auto note = [&] { num_others += std::this_thread::get_id() == caller ? 0 : 1; };
  const auto go_on = [&] { return note(), false; };
  std::vector<double> shares;
  MiniBucketOptions options{.i_bound = 10, .passes = 4, .threads = 9, .should_settle = go_on, .should_stop = go_on};
  options.progress = [&](double share) { note(), shares.push_back(share); };
  const MiniBucketReport report = WeightedMiniBucket(graph, space, options).report();
  EXPECT_EQ(num_others, 0);
  EXPECT_EQ(report.upper_passes, 4);
  EXPECT_EQ(report.lower_passes, 4);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_LE(shares.back(), 1.0);
}

// Twice the memory of one bound is not always there.
TEST(WeightedMiniBucketThreads, KeepWithinTheMemory) {
  const FactorGraph graph = binary_model(61, 18, 120);
  const SearchSpace space = space_of(graph);
  const auto report_of = [&](std::uint64_t bytes) {
    return WeightedMiniBucket(graph, space, {.bytes = bytes, .i_bound = 10, .passes = 2, .threads = 8}).report();
  };
  const MiniBucketReport roomy = report_of(std::uint64_t{1} << 30);
  const MiniBucketReport tight = report_of(roomy.bytes - 1);
  EXPECT_LT(tight.bytes, roomy.bytes);
  EXPECT_EQ(tight.log_upper, roomy.log_upper);
  EXPECT_EQ(tight.log_lower, roomy.log_lower);
}

TEST(WeightedMiniBucketThreads, TellHowFarTheyAre) {
  const FactorGraph graph = binary_model(57, 20, 120);
  const SearchSpace space = space_of(graph);
  for (const int threads : {1, 3}) {
    std::vector<double> shares;
    MiniBucketOptions options{.i_bound = 8, .passes = 4, .threads = threads};
    options.progress = [&](double share) { shares.push_back(share); };
    const MiniBucketReport report = WeightedMiniBucket(graph, space, options).report();
    ASSERT_EQ(report.upper_passes, 4);
    ASSERT_EQ(report.lower_passes, 4);
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    EXPECT_EQ(shares.front(), 0.0);
    EXPECT_GT(shares.back(), 0.9);
    EXPECT_LE(shares.back(), 1.0);
    EXPECT_TRUE(std::any_of(shares.begin(), shares.end(), [](double share) { return share > 0.4 && share < 0.5; }));
  }
}

TEST(Orders, TellHowFarTheyAre) {
  Random random(58);
  const FactorGraph graph = random_model(random, {.num_variables = 30, .num_factors = 80, .max_arity = 3});
  std::vector<double> shares;
  const auto progress = [&](double share) { shares.push_back(share); };
  search_order(graph, SpaceKind::kAndOr, {.restarts = 4, .progress = progress});
  EXPECT_EQ(shares, (std::vector<double>{0.0, 0.25, 0.5, 0.75}));
  shares.clear();
  plan_elimination(graph, {.restarts = 5, .progress = progress});
  EXPECT_EQ(shares, (std::vector<double>{0.2, 0.4, 0.6, 0.8}));  // the first one is always made
}

TEST(WeightedMiniBucketThreads, RefusesNumbersThatMakeNoSense) {
  const FactorGraph graph = [] {
    FactorGraph one = testing::variables({2});
    return one;
  }();
  for (const int threads : {-1, 5000}) {
    EXPECT_THROW(WeightedMiniBucket(graph, space_of(graph), {.threads = threads}), Error);
  }
}

}  // namespace
}  // namespace treesample
