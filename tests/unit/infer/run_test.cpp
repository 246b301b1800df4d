#include "infer/run.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/expect_error.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {
namespace {

// A certified number that is made up to hide a contradiction would be the worst answer: lower = upper, "exact".
TEST(Run, BoundsThatContradictEachOtherAreAnErrorAndNotTold) {
  std::vector<LogBounds> told;
  const treesample::Run run(HUGE_VAL, {.progress = [&](const Progress& now) { told.push_back(now.log_z); }});
  run.tell({.log_z = {1.0, 5.0}});
  run.tell({.log_z = {0.0, 4.0}});
  EXPECT_EQ(told.back().lower, 1.0);
  EXPECT_EQ(told.back().upper, 4.0);
  testing::expect_error(ErrorCode::kNumeric, [&] { run.tell({.log_z = {0.0, 0.5}}); });
  EXPECT_EQ(told.size(), 2U);
}

TEST(Run, AContradictionIsNoticedWithoutAnObserver) {
  const treesample::Run run(HUGE_VAL, {});
  run.tell({.log_z = {1.0, 5.0}});
  testing::expect_error(ErrorCode::kNumeric, [&] { run.tell({.log_z = {5.5, 6.0}}); });
}

TEST(Run, BoundsThatWereTakenBackContradictNothing) {
  std::vector<LogBounds> told;
  const treesample::Run run(HUGE_VAL, {.progress = [&](const Progress& now) { told.push_back(now.log_z); }});
  run.tell({.log_z = {1.0, 1.0}});
  run.take_back();
  run.tell({.log_z = {0.5, 0.9}});
  EXPECT_EQ(told.back().upper, 0.9);
}

TEST(Run, AnInterruptionHasAnAnswerWhereTheMemoryWouldNotHaveBeenEnough) {
  FactorGraph graph;
  for (int v = 0; v < 10; ++v) graph.add_variable(2);
  for (int v = 0; v + 1 < 10; ++v) graph.add_table({v, v + 1}, {0.1, 0.2, 0.3, 0.4});
  const Limits limits{.budget = 1'000'000'000, .bytes = std::size_t{1} << 20};
  const InferOptions options{.method = Method::kSis};
  testing::expect_error(ErrorCode::kResource, "particles need", [&] { infer(graph, {}, limits, options); });
  const Answer answer = infer(graph, {}, limits, options, {.should_stop = [] { return true; }});
  EXPECT_EQ(answer.stop, StopReason::kInterrupted);
  EXPECT_TRUE(answer.upper);
}

}  // namespace
}  // namespace treesample
