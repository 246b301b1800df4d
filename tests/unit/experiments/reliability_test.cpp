// The systems of `reproduce reliability`: exact probabilities, and how few calls they take.
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/reliability/systems.hpp"
#include "treesample/monotone/box_search.hpp"

namespace treesample::experiments {
namespace {

constexpr double kOnePercent = 0.02;  // between the logarithms of the bounds

TEST(Reliability, LossOfLoadIsCertifiedToOnePercent) {
  const ReliabilitySystem system = rts79();
  EXPECT_NEAR(system.probability, 0.084578, 5e-7);
  const BoxResult result = box_search(system.graph, {.budget = 21'000, .unit = BudgetUnit::kCall, .gap = kOnePercent},
                                      {.sample_share = 0.0});
  EXPECT_EQ(result.report.stop, StopReason::kGap);
  EXPECT_LE(result.report.log_z.lower, std::log(system.probability));
  EXPECT_GE(result.report.log_z.upper, std::log(system.probability));
}

TEST(Reliability, LossOfLoadHasAnIntervalOfOnePercentAfterFewCalls) {
  const ReliabilitySystem system = rts79();
  const BoxResult result = box_search(system.graph, {.budget = 4'000, .unit = BudgetUnit::kCall}, {.seed = 1});
  ASSERT_TRUE(result.report.samples);
  const LogBounds& interval = result.report.samples->interval;
  EXPECT_LE(interval.upper - interval.lower, kOnePercent);
  EXPECT_LE(result.report.spent.calls, 4'000);
  EXPECT_NEAR(result.report.estimate, std::log(system.probability), kOnePercent);
}

TEST(Reliability, RareFailuresOfTheDodecahedronTakeFewCallsWithWitnesses) {
  const ReliabilitySystem system = dodecahedron(1e-3);
  EXPECT_NEAR(system.probability, 2.006e-9, 1e-12);
  const BoxResult result =
      box_search(system.graph, {.budget = 400, .unit = BudgetUnit::kCall, .gap = kOnePercent}, {.sample_share = 0.0});
  EXPECT_EQ(result.report.stop, StopReason::kGap);
  EXPECT_LE(result.report.log_z.lower, std::log(system.probability));
  EXPECT_GE(result.report.log_z.upper, std::log(system.probability));
}

}  // namespace
}  // namespace treesample::experiments
