// Everything that may take long asks whether it shall end, and often enough: counted in questions, not in seconds.
#include "treesample/stop.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/find_configuration.hpp"
#include "treesample/math/random.hpp"
#include "treesample/reduce/simplify.hpp"
#include "treesample/search/search.hpp"
#include "treesample/search/search_approximation.hpp"
#include "treesample/space/order.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/value/leaf_value.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {
namespace {

using testing::expect_error;

FactorGraph clique(int num_variables, int num_states) {
  Random random(1);
  FactorGraph graph = testing::variables(num_variables, num_states);
  for (int v = 0; v < num_variables; ++v) {
    for (int u = 0; u < v; ++u) {
      std::vector<double> values(static_cast<std::size_t>(num_states) * num_states);
      for (double& value : values) value = random.normal();
      graph.add_table({u, v}, std::move(values));
    }
  }
  return graph;
}

std::vector<int> given_order(const FactorGraph& graph) { return testing::integers(graph.num_variables()); }

// Counts questions, and wants the end from the given one on.
struct Questions {
  std::int64_t last;
  std::int64_t asked = 0;
  ShouldStop function() {
    return [this] { return ++asked >= last; };
  }
};

constexpr std::int64_t kNever = INT64_MAX;

TEST(StopCheck, AsksAfterSoMuchWorkAndRemembersTheAnswer) {
  Questions questions{2};
  StopCheck stop(questions.function());
  std::int64_t num_steps = 0;
  while (!stop.is_asked(16)) num_steps += 16;
  EXPECT_EQ(questions.asked, 2);
  EXPECT_NEAR(static_cast<double>(num_steps), 2.0 * StopCheck::kStepsBetweenLooks, 32.0);
  questions.last = kNever;
  EXPECT_TRUE(stop.is_asked());
  EXPECT_TRUE(stop.is_asked(StopCheck::kStepsBetweenLooks));
  expect_error(ErrorCode::kInterrupted, [&] { stop.go_on("work"); });
  StopCheck endless{ShouldStop()};
  EXPECT_FALSE(endless.is_asked(100 * StopCheck::kStepsBetweenLooks));
}

TEST(Stop, EliminationAsksWithinOneLargeBucket) {
  const FactorGraph graph = clique(20, 2);
  for (const bool for_marginals : {false, true}) {
    std::int64_t num_asked = 0, last = kNever;
    double share = 0.0;
    const EliminationPlan plan = plan_in_order(graph, given_order(graph));
    const Observer observer{[&](const Progress& now) { share = now.share_done.value(); },
                            [&] { return ++num_asked >= last; }};
    const Elimination whole(graph, plan, {.threads = 1}, {}, observer);
    EXPECT_GT(num_asked, 2 * graph.num_variables());  // the first buckets, one loop, have 2^21 entries
    EXPECT_GT(share, 0.9);
    if (for_marginals) {
      num_asked = 0;
      last = 10;
      expect_error(ErrorCode::kInterrupted, [&] { static_cast<void>(whole.marginals()); });
    } else {
      num_asked = 0;
      last = 5;
      expect_error(ErrorCode::kInterrupted, [&] { Elimination(graph, plan, {.threads = 1}, {}, observer); });
      EXPECT_LT(share, 0.5);
    }
    EXPECT_EQ(num_asked, last);
  }
}

TEST(Stop, EliminationPlanEndsWhereEveryOrderIsTooLarge) {
  const FactorGraph graph = clique(30, 2);
  const EliminationPlan cost = plan_elimination(graph, {.restarts = 3, .most_entries = 1e6});
  EXPECT_TRUE(cost.order.empty());
  EXPECT_EQ(cost.num_entries, HUGE_VAL);
  EXPECT_EQ(plan_elimination(graph, {.restarts = 3, .most_entries = 1e12}).num_entries,
            plan_elimination(graph, {.restarts = 3}).num_entries);
}

TEST(Stop, OrdersAreGivenUp) {
  const FactorGraph graph = clique(300, 2);
  Questions questions{3};
  const OrderOptions options{.restarts = 1, .should_stop = questions.function()};
  expect_error(ErrorCode::kInterrupted, [&] { search_order(graph, SpaceKind::kAndOr, options); });
  EXPECT_EQ(questions.asked, 3);
}

TEST(Stop, ARestartThatTakesTooLongIsAbandoned) {
  const FactorGraph graph = clique(200, 2);
  const std::vector<int> first = search_order(graph, SpaceKind::kAndOr, {.restarts = 1});
  Questions questions{2};
  EXPECT_EQ(search_order(graph, SpaceKind::kAndOr, {.restarts = 1000, .should_settle = questions.function()}), first);
  EXPECT_LE(questions.asked, 3);
}

TEST(Stop, ContextsOfAPathAreGivenUpOrRefused) {
  FactorGraph graph;  // every variable is in the contexts of half of the levels
  constexpr int kHalf = 36'000;
  for (int v = 0; v < 2 * kHalf; ++v) graph.add_variable(2);
  for (int v = 0; v < kHalf; ++v) graph.add_table({v, v + kHalf}, {0.0, 1.0, 2.0, 3.0});
  expect_error(ErrorCode::kResource, [&] { make_search_space(graph, given_order(graph), SpaceKind::kGraph); });
  EXPECT_EQ(make_search_space(graph, given_order(graph), SpaceKind::kTree).num_levels(), 2 * kHalf);
  Questions questions{1};
  const FactorGraph dense = clique(400, 2);
  for (const SpaceKind kind : {SpaceKind::kGraph, SpaceKind::kAndOr}) {
    expect_error(ErrorCode::kInterrupted,
                 [&] { make_search_space(dense, given_order(dense), kind, questions.function()); });
  }
}

TEST(Stop, MiniBucketsAreGivenUpInTheMiddle) {
  const FactorGraph graph = clique(40, 3);
  const SearchSpace space = make_search_space(graph, given_order(graph), SpaceKind::kAndOr);
  Questions all{kNever};
  MiniBucketOptions options{.i_bound = 8, .passes = 1, .lower_bound = false, .should_stop = all.function()};
  const WeightedMiniBucket whole(graph, space, options);
  EXPECT_GT(all.asked, 100);
  for (const double share : {0.02, 0.3, 0.9}) {
    Questions some{static_cast<std::int64_t>(share * static_cast<double>(all.asked))};
    options.should_stop = some.function();
    expect_error(ErrorCode::kInterrupted, [&] { WeightedMiniBucket(graph, space, options); });
    EXPECT_EQ(some.asked, some.last);
  }
  // Later passes are undone: the bound is the one of the passes before.
  options.should_stop = {};
  options.passes = 5;
  Questions late{1};
  options.should_settle = late.function();
  EXPECT_EQ(WeightedMiniBucket(graph, space, options).report().log_upper, whole.report().log_upper);
}

TEST(Stop, LeafValuesAreGivenUp) {
  const FactorGraph graph = clique(300, 2);
  const SearchSpace space = make_search_space(graph, given_order(graph), SpaceKind::kTree);
  Questions questions{2};
  expect_error(ErrorCode::kInterrupted, [&] { maxima_value(graph, space, questions.function()); });
  expect_error(ErrorCode::kInterrupted,
               [&] { product_value(graph, space, uniform_distributions(graph), questions.function()); });
  Questions sweep{2};
  const LocalDistributions q = mean_field(graph, 20, 0, sweep.function());
  EXPECT_LE(sweep.asked, 4);
  for (const std::vector<double>& probs : q) EXPECT_NEAR(probs[0] + probs[1], 1.0, 1e-12);
}

TEST(Stop, ASearchWithBoundsEndsAsInterruptedAndSoDoItsSamplers) {
  const FactorGraph graph = clique(20, 2);
  for (const SelectRule rule : {SelectRule::kGap, SelectRule::kMass}) {
    const SearchSpace space = make_search_space(graph, given_order(graph), SpaceKind::kTree);
    LeafValues leaves{.upper = maxima_value(graph, space)};
    Questions questions{50};
    const SearchOptions options{.select = rule};
    const SearchResult result = search(graph, space, leaves, {}, options, {.should_stop = questions.function()});
    EXPECT_EQ(result.report.stop, StopReason::kInterrupted);
    EXPECT_LE(questions.asked, 60);  // the passes at the end ask once or twice
    const SearchResult large = search(graph, space, leaves, {.budget = 500'000}, options);
    Questions once{1};
    const SamplerKind kind = rule == SelectRule::kGap ? SamplerKind::kUpper : SamplerKind::kEstimate;
    expect_error(ErrorCode::kInterrupted, [&] { SearchApproximation(large, kind, once.function()); });
    expect_error(ErrorCode::kInterrupted, [&] { best_configuration(large, once.function()); });
  }
}

TEST(Stop, ProbingEndsWithWhatIsKnown) {
  Random random(5);
  FactorGraph graph = testing::variables(400, 8);
  for (int v = 0; v + 1 < 400; ++v) {
    std::vector<double> values(64);
    for (double& value : values) value = random.uniform() < 0.5 ? -HUGE_VAL : random.normal();
    graph.add_table({v, v + 1}, std::move(values));
  }
  Questions all{kNever}, once{1};
  const SimplifiedModel whole = simplify(graph, {}, all.function());
  const SimplifiedModel cut = simplify(graph, {}, once.function());
  EXPECT_GT(all.asked, 1);
  EXPECT_EQ(once.asked, 1);
  EXPECT_LE(cut.report.num_removed_states, whole.report.num_removed_states);
  EXPECT_FALSE(cut.report.is_impossible && !whole.report.is_impossible);
}

}  // namespace
}  // namespace treesample
