// How mini-buckets use memory and time, and what they refuse.
#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.hpp"
#include "support/search_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {
namespace {

using testing::random_model;
using testing::space_of;

FactorGraph dense_model() {
  Random random(59);
  return random_model(
      random,
      {.num_variables = 14, .min_states = 2, .max_states = 3, .num_factors = 200, .min_arity = 2, .max_arity = 2});
}

// The bounds are sums of as many messages as there are levels, and so is what rounding may do to them.
TEST(WeightedMiniBucket, BoundsHoldWhereThousandsOfMessagesAddUp) {
  const double values[2][2] = {{-1.2, -0.35}, {0.1, -0.6}};
  for (const int num_leaves : {300, 3000}) {
    FactorGraph star, pairs;
    star.add_variable(2);
    for (int i = 0; i < num_leaves; ++i) {
      star.add_variable(2);
      star.add_table({0, i + 1}, {values[0][0], values[0][1], values[1][0], values[1][1]});
      const int first = pairs.add_variable(2), second = pairs.add_variable(2);
      pairs.add_table({first, second}, {0.1, 0.2, -0.3, 0.4});
    }
    const SearchSpace space = space_of(star, SpaceKind::kGraph, OrderKind::kGiven);
    const WeightedMiniBucket bounds(star, space, {});
    Assignment x(static_cast<std::size_t>(num_leaves) + 1, 0);
    for (x[0] = 0; x[0] < 2; ++x[0]) {
      const long double one = std::log(std::exp(static_cast<long double>(values[x[0]][0])) +
                                       std::exp(static_cast<long double>(values[x[0]][1])));
      for (int level = 1; level <= num_leaves; ++level) {
        const long double exact = one * (num_leaves + 1 - level);
        ASSERT_LE(static_cast<long double>(bounds.log_lower(level, x)), exact) << level;
        ASSERT_GE(static_cast<long double>(bounds.log_upper(level, x)), exact) << level;
      }
    }
    const WeightedMiniBucket of_pairs(pairs, space_of(pairs, SpaceKind::kGraph, OrderKind::kGiven), {});
    long double pair = 0.0L;
    for (const double value : {0.1, 0.2, -0.3, 0.4}) pair += std::exp(static_cast<long double>(value));
    EXPECT_LE(static_cast<long double>(of_pairs.report().log_lower), num_leaves * std::log(pair));
    EXPECT_GE(static_cast<long double>(of_pairs.report().log_upper), num_leaves * std::log(pair));
    EXPECT_LT(of_pairs.report().log_upper - of_pairs.report().log_lower, 1e-9);
  }
}

// Entropies overflow where differences of huge entries are rounding: the weights must stay weights.
TEST(WeightedMiniBucket, BoundsHoldWithPenaltiesOfAnySize) {
  for (const double penalty : {-1e6, -1e20, -1e40, -1e300}) {
    for (int trial = 0; trial < 20; ++trial) {
      Random random(100 + trial);
      const FactorGraph shape = random_model(
          random,
          {.num_variables = 6, .min_states = 2, .max_states = 3, .num_factors = 6, .min_arity = 2, .max_arity = 3});
      FactorGraph graph;
      for (int v = 0; v < shape.num_variables(); ++v) graph.add_variable(shape.num_states(v));
      for (const Factor& factor : shape.factors()) {
        std::vector<double> values = factor.log_values();
        for (double& value : values) value = random.uniform() < 0.3 ? penalty * random.uniform() : value;
        graph.add_table(factor.scope(), std::move(values));
      }
      const double log_z = enumerate(graph).log_z;
      const WeightedMiniBucket bounds(graph, space_of(graph, SpaceKind::kAndOr, OrderKind::kMinFill), {.i_bound = 1});
      EXPECT_GE(bounds.report().log_upper, log_z) << penalty << ", trial " << trial;
      EXPECT_LE(bounds.report().log_lower, log_z) << penalty << ", trial " << trial;
    }
  }
}

// wanted_bytes chooses the i-bound but refuses nothing.
TEST(WeightedMiniBucket, WantedBytesChooseTheBoundWithinTheLimit) {
  Random random(3);
  const FactorGraph graph = random_model(random, {.num_variables = 8, .min_states = 2, .num_factors = 20});
  const SearchSpace space = make_search_space(graph, search_order(graph, SpaceKind::kAndOr, {}), SpaceKind::kAndOr);
  const auto i_bound = [&](std::uint64_t limit, std::uint64_t wanted) {
    return WeightedMiniBucket(graph, space, {.bytes = limit, .wanted_bytes = wanted}).report().i_bound;
  };
  constexpr std::uint64_t kMuch = 1 << 30;
  for (const std::uint64_t bytes : {5'000, 20'000, 50'000}) EXPECT_EQ(i_bound(kMuch, bytes), i_bound(bytes, kMuch));
  EXPECT_GT(i_bound(kMuch, kMuch), 0);
  EXPECT_EQ(i_bound(kMuch, 0), 0);
  EXPECT_THROW(i_bound(100, 0), Error);
}

TEST(WeightedMiniBucket, TakesTheLargestBoundThatFitsIntoMemory) {
  const FactorGraph graph = dense_model();
  const SearchSpace space = space_of(graph, SpaceKind::kAndOr, OrderKind::kMinFill);
  int last = -1;
  for (const std::uint64_t limit : {20'000, 60'000, 100'000'000}) {
    const MiniBucketReport report = WeightedMiniBucket(graph, space, {.bytes = limit, .passes = 1}).report();
    EXPECT_LE(report.bytes, limit);
    EXPECT_LE(report.kept_bytes, report.bytes);
    EXPECT_GT(report.i_bound, last) << limit;
    last = report.i_bound;
    if (report.is_exact) continue;
    testing::expect_error(ErrorCode::kResource, [&] {  // a larger bound does not fit
      WeightedMiniBucket(graph, space, {.bytes = limit, .i_bound = last + 1});
    });
  }
  EXPECT_EQ(last, space.width());
  EXPECT_THROW(WeightedMiniBucket(graph, space, {.bytes = 100}), Error);
}

TEST(WeightedMiniBucket, ReportsTheTablesItReads) {
  const FactorGraph graph = dense_model();
  const SearchSpace space = space_of(graph, SpaceKind::kAndOr, OrderKind::kMinFill);
  const WeightedMiniBucket bounds(graph, space, {.i_bound = 2, .passes = 1});
  std::int64_t entries = 0;
  for (const Factor& factor : graph.factors()) entries += static_cast<std::int64_t>(factor.log_values().size());
  EXPECT_EQ(bounds.report().table_reads, entries);
  for (int n = 0; n < space.num_levels(); ++n) {
    EXPECT_EQ(bounds.table_reads(n), static_cast<int>(space.levels[n].factors.size()) * space.levels[n].num_states);
  }
}

TEST(WeightedMiniBucket, StopRequestEndsThePassesAndKeepsTheBest) {
  const FactorGraph graph = dense_model();
  const SearchSpace space = space_of(graph, SpaceKind::kAndOr, OrderKind::kMinFill);
  const MiniBucketReport one = WeightedMiniBucket(graph, space, {.i_bound = 3, .passes = 1}).report();
  const MiniBucketReport at_once =
      WeightedMiniBucket(graph, space, {.i_bound = 3, .should_settle = [] { return true; }}).report();
  EXPECT_EQ(at_once.upper_passes, 1);
  EXPECT_FALSE(at_once.has_lower);
  EXPECT_EQ(at_once.log_lower, kNegInf);
  EXPECT_NEAR(at_once.log_upper, one.log_upper, 1e-10);
  // Stopped in the middle of the fourth pass: the result of three passes, on every level.
  int calls = 0;
  const auto stop = [&calls, &space] { return ++calls > 2 * space.num_levels() + 5; };
  const WeightedMiniBucket later(graph, space, {.i_bound = 3, .should_settle = stop});
  const WeightedMiniBucket three(graph, space, {.i_bound = 3, .passes = 3});
  EXPECT_EQ(later.report().upper_passes, 3);
  EXPECT_NEAR(later.report().log_upper, three.report().log_upper, 1e-10);
  const Assignment x(static_cast<std::size_t>(graph.num_variables()), 1);
  for (int n = 0; n < space.num_levels(); ++n) EXPECT_NEAR(later.log_upper(n, x), three.log_upper(n, x), 1e-10);
}

TEST(WeightedMiniBucket, LowerBoundIsOffWithZeros) {
  FactorGraph graph = testing::variables(3, 2);
  graph.add_table({0, 1}, {0.0, kNegInf, 1.0, 0.5});
  graph.add_table({1, 2}, {0.0, 0.3, 1.0, 0.5});
  graph.add_table({0, 2}, {0.7, 0.1, 1.0, 0.5});
  const SearchSpace space = make_search_space(graph, std::vector<int>{0, 1, 2}, SpaceKind::kAndOr);
  const WeightedMiniBucket bounds(graph, space, {.i_bound = 1});
  EXPECT_FALSE(bounds.report().is_exact);
  EXPECT_FALSE(bounds.report().has_lower);
  EXPECT_EQ(bounds.report().log_lower, kNegInf);
  EXPECT_GE(bounds.report().log_upper, enumerate(graph).log_z);
}

TEST(WeightedMiniBucket, RefusesFunctionsAndBadOptions) {
  FactorGraph graph = testing::variables({2});
  graph.add_factor(Factor::function({0}, [](std::span<const int>) { return 0.0; }));
  const auto make = [](const FactorGraph& model, const MiniBucketOptions& options) {
    WeightedMiniBucket(model, make_search_space(model, std::vector<int>{0}, SpaceKind::kAndOr), options);
  };
  testing::expect_error(ErrorCode::kArgument, [&] { make(graph, {}); });
  const FactorGraph table = testing::variables({2});
  testing::expect_error(ErrorCode::kArgument, [&] { make(table, {.passes = 0}); });
  testing::expect_error(ErrorCode::kArgument, [&] { make(table, {.i_bound = -1}); });
  EXPECT_NO_THROW(make(table, {}));
}

}  // namespace
}  // namespace treesample
