// Counter: counts in slices, with bounds in between, against counts in one go.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "support/trials.hpp"
#include "support/zero_models.hpp"
#include "treesample/count/count.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"

namespace treesample {
namespace {

using testing::below;
using testing::num_trials;

CountOptions search_alone() { return {.has_reductions = false, .most_eliminated_entries = 0}; }

// Ends after so many looks.
ShouldStop after_looks(int most) {
  return [most, num = std::make_shared<int>(0)] { return ++*num >= most; };
}

TEST(Counter, SlicesAndBoundsChangeNothing) {
  const int num = num_trials(3);
  int num_slices = 0;
  for (int trial = 0; trial < num; ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "count slices");
    const FactorGraph graph = testing::random_clauses(random, 40, 80 + 10 * (trial % 3));
    const CountResult whole = count(graph, {}, search_alone());
    const double log_z = whole.report.log_z.upper;
    Counter counter(graph, {}, search_alone());
    LogBounds last{kNegInf, HUGE_VAL};
    for (int slice = 1; !counter.run({.should_stop = after_looks(1 + slice / 4)}); ++slice) {
      ASSERT_TRUE(counter.can_go_on());
      ASSERT_LT(slice, 100'000);
      if (++num_slices % 8 != 0) continue;
      const CountResult now = counter.result();
      EXPECT_FALSE(now.is_solved);
      EXPECT_EQ(now.report.stop, StopReason::kInterrupted);
      EXPECT_LE(now.report.log_z.lower, log_z + 1e-9);
      EXPECT_GE(now.report.log_z.upper, log_z - 1e-9);
      EXPECT_LE(now.report.log_z.upper, last.upper);
      last.upper = std::isfinite(log_z) ? now.report.log_z.upper + 1e-9 : HUGE_VAL;
    }
    const CountResult result = counter.result();
    EXPECT_TRUE(result.is_solved);
    EXPECT_FALSE(counter.can_go_on());
    EXPECT_EQ(result.report.log_z.lower, whole.report.log_z.lower);
    EXPECT_EQ(result.report.log_z.upper, whole.report.log_z.upper);
    EXPECT_EQ(result.report.num_decisions, whole.report.num_decisions);
    EXPECT_EQ(result.report.num_learned, whole.report.num_learned);
    if (HasFailure()) return;
  }
  EXPECT_GT(num_slices, 2 * num);
}

// Small models, stopped after each number of decisions: bounds contain the truth, and the count is right at the end.
TEST(Counter, GoesOnAfterBoundsOfAnyState) {
  for (int trial = 0; trial < num_trials(60); ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "count states");
    testing::RandomCspOptions kind;
    kind.num_variables = 8;
    kind.num_factors = 4 + below(random, 10);
    kind.num_blocks = 1 + below(random, 3);
    kind.zeros = 0.3 + 0.5 * random.uniform();
    const FactorGraph graph = testing::random_csp(random, kind);
    const double log_z = enumerate(graph).log_z;
    const CountResult whole = count(graph, {}, search_alone());
    for (std::int64_t most = 0; most < whole.report.num_decisions; ++most) {
      CountOptions options = search_alone();
      options.most_decisions = most;
      Counter counter(graph, {}, options);
      EXPECT_FALSE(counter.run());
      const LogBounds bounds = counter.result().report.log_z, again = counter.result().report.log_z;
      EXPECT_LE(bounds.lower, log_z + 1e-9);
      EXPECT_GE(bounds.upper, log_z - 1e-9);
      EXPECT_EQ(bounds.lower, again.lower);
      EXPECT_EQ(bounds.upper, again.upper);
      counter.tighten_upper();
      EXPECT_GE(counter.result().report.log_z.upper, log_z - 1e-9);
      EXPECT_LE(counter.result().report.log_z.upper, bounds.upper);
    }
    if (HasFailure()) return;
  }
}

TEST(Counter, InterruptedPreparationsAreRepeated) {
  Random random(5, "count preparation");
  const FactorGraph graph = testing::random_clauses(random, 40, 90);
  Counter counter(graph);
  EXPECT_FALSE(counter.run({.should_stop = [] { return true; }}));
  EXPECT_TRUE(counter.can_go_on());
  const CountResult begun = counter.result();
  EXPECT_LE(begun.report.log_z.lower, begun.report.log_z.upper);
  EXPECT_LT(begun.report.log_z.upper, HUGE_VAL);
  EXPECT_EQ(begun.report.share_done, 0.0);
  EXPECT_TRUE(counter.run());
  const CountResult whole = count(graph);
  EXPECT_EQ(counter.result().report.log_z.lower, whole.report.log_z.lower);
  EXPECT_TRUE(counter.run());  // nothing is left to do
}

TEST(Counter, KeepsACircuitAcrossSlices) {
  Random random(7, "count circuit");
  const FactorGraph graph = testing::random_clauses(random, 40, 90);
  Counter counter(graph, {}, {.keep_circuit = true});
  for (int most = 2; !counter.run({.should_stop = after_looks(most)}); ++most) (void)counter.result();
  const CountResult result = counter.result();
  ASSERT_NE(result.circuit, nullptr);
  EXPECT_NEAR(result.circuit->log_z().upper, count(graph).report.log_z.upper, 1e-9);
}

TEST(Counter, RefusesFunctionsAndBadOptions) {
  FactorGraph graph;
  graph.add_variable(2);
  EXPECT_THROW(Counter(graph, {}, {.order_restarts = 0}), Error);
  graph.add_factor(Factor::function({0}, [](std::span<const int>) { return 0.0; }));
  EXPECT_THROW(Counter{graph}, Error);
}

}  // namespace
}  // namespace treesample
