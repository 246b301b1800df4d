// One policy of time: what a run without a limit does, and what limits and questions do not change.
#include <gtest/gtest.h>

#include <cmath>

#include "infer/time_limit.hpp"
#include "support/expect_error.hpp"
#include "support/fake_clock.hpp"
#include "treesample/error.hpp"
#include "treesample/families/family.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {
namespace {

FactorGraph wide_grid() { return make_family("ising", {.seed = 1, .values = {{"n", 40.0}, {"columns", 40.0}}}).graph; }

// Pigeons in different holes: far too wide for elimination, and quickly counted.
FactorGraph pigeons(int num_pigeons, int num_holes) {
  FactorGraph graph;
  for (int v = 0; v < num_pigeons; ++v) graph.add_variable(num_holes);
  for (int a = 0; a < num_pigeons; ++a) {
    for (int b = 0; b < a; ++b) {
      std::vector<double> table(static_cast<std::size_t>(num_holes) * static_cast<std::size_t>(num_holes), 0.0);
      for (int i = 0; i < num_holes; ++i) table[static_cast<std::size_t>(i * num_holes + i)] = -HUGE_VAL;
      graph.add_table({b, a}, table);
    }
  }
  return graph;
}

void expect_same_plan(const Plan& a, const Plan& b) {
  EXPECT_EQ(a.method, b.method);
  EXPECT_EQ(a.select, b.select);
  EXPECT_EQ(a.counts_first, b.counts_first);
  EXPECT_EQ(a.request.limits.seconds, b.request.limits.seconds);
  ASSERT_EQ(a.phases.size(), b.phases.size());
  for (std::size_t i = 0; i < a.phases.size(); ++i) {
    EXPECT_EQ(a.phases[i].what, b.phases[i].what);
    // The threads that look for orders look at the clock as they go, which moves at each look.
    EXPECT_NEAR(a.phases[i].until_seconds, b.phases[i].until_seconds, 0.1);
  }
}

TEST(Time, ARunWithoutALimitHasTenSeconds) {
  for (const FactorGraph& graph : {wide_grid(), pigeons(10, 11)}) {
    // Much the same time passes in all of them.
    const auto planned = [&](const Limits& limits) {
      return plan_by(testing::FakeClock(1e-3).time(), graph, {}, limits);
    };
    const Plan ten = planned({.seconds = 10.0});
    expect_same_plan(planned({}), ten);
    expect_same_plan(planned({.gap = 1e-3}), ten);
    expect_same_plan(planned({.threads = 1}), ten);
  }
}

TEST(Time, NoLimitTakesAMethodAway) {
  const FactorGraph chain = make_family("chain", {.seed = 1}).graph;
  const FactorGraph birds = pigeons(10, 11);
  for (const Limits& limits : {Limits{.gap = 1e-9}, Limits{.budget = 1'000'000}, Limits{.threads = 1}}) {
    EXPECT_EQ(plan(chain, {}, limits).method, Method::kExact);
    EXPECT_TRUE(plan(birds, {}, limits).counts_first);
  }
}

TEST(Time, ABudgetOrAMethodIsALimitOfItsOwn) {
  EXPECT_TRUE(std::isinf(plan(pigeons(9, 10), {}, {.budget = 100}).request.limits.seconds));
  EXPECT_TRUE(std::isinf(plan(pigeons(9, 10), {}, {}, {.select = SelectRule::kGap}).request.limits.seconds));
  EXPECT_TRUE(std::isinf(plan(pigeons(9, 10), {}, {}, {.method = Method::kBp}).request.limits.seconds));
}

TEST(Time, NoLimitAtAllIsSaid) {
  const Plan chosen = plan(wide_grid(), {}, {.seconds = kNoTimeLimit});
  EXPECT_TRUE(std::isinf(chosen.request.limits.seconds));
  ASSERT_FALSE(chosen.remarks.empty());
  EXPECT_NE(chosen.remarks.front().find("no time limit"), std::string::npos) << chosen.remarks.front();
}

// The answer is exact whatever else is asked, by counting or, where the limits leave the time, in slices.
TEST(Time, CountingTakesTurnsWithTheSearch) {
  const double log_z = std::lgamma(12.0);  // 11! ways for 10 pigeons
  for (const Limits& limits :
       {Limits{}, Limits{.gap = 1e-3}, Limits{.threads = 1}, Limits{.seconds = 60.0, .threads = 2},
        Limits{.budget = 1'000'000}, Limits{.seconds = kNoTimeLimit}}) {
    const Answer answer = infer(pigeons(10, 11), {.marginals = false, .best = false}, limits);
    ASSERT_TRUE(answer.log_z && answer.is_exact);
    EXPECT_NEAR(*answer.log_z, log_z, 1e-9);
    EXPECT_EQ(answer.stop, StopReason::kExact);
  }
}

TEST(Time, WhatIsAskedBeyondLogZDoesNotMakeItLess) {
  Question question;
  question.samples = 3;
  const Answer answer = infer(pigeons(8, 9), question, {});
  EXPECT_TRUE(answer.is_exact);
  EXPECT_NEAR(*answer.log_z, std::lgamma(10.0), 1e-9);
}

TEST(Time, AQuestionOfLogZAloneHasNothingElse) {
  for (const FactorGraph& graph : {make_family("chain", {.seed = 1}).graph, pigeons(10, 11)}) {
    const Answer all = infer(graph), only = infer(graph, {.aim = Aim::kLogZ});
    EXPECT_TRUE(only.is_exact);
    EXPECT_NEAR(*only.log_z, *all.log_z, 1e-9);
    EXPECT_TRUE(only.marginals.empty());
    EXPECT_FALSE(only.bounded_importance);
  }
  for (const Question& more : {Question{.aim = Aim::kLogZ, .query = {{"x0"}}}, Question{.aim = Aim::kLogZ, .k_best = 2},
                               Question{.aim = Aim::kLogZ, .map = {"x0"}}, Question{.aim = Aim::kLogZ, .samples = 1}}) {
    testing::expect_error(ErrorCode::kArgument, "is not for --question logz", [&] { infer(pigeons(3, 3), more); });
  }
}

}  // namespace
}  // namespace treesample
