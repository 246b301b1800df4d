// The phases of `infer` by a clock that is set: a plan that is shown is the plan that is run, every phase ends in time,
// and what was begun is not thrown away. Seconds of these runs are looks at the clock; each run takes milliseconds.
#include "infer/phases.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "infer/policy.hpp"
#include "infer/time_limit.hpp"
#include "support/fake_clock.hpp"
#include "support/random_models.hpp"
#include "treesample/families/family.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {
namespace {

using testing::FakeClock;

constexpr double kLook = 0.02;  // seconds for each look at the clock
// The looks between the end of the time and the end of the work, each of which takes time by this clock.
constexpr double kLate = policy::kGraceSeconds + 50.0 * kLook;

FactorGraph chain() { return make_family("chain", {.seed = 1}).graph; }
FactorGraph grid(int n) {
  const double size = n;
  return make_family("ising", {.seed = 1, .values = {{"n", size}, {"columns", size}}}).graph;
}

// Different states for all: far too wide for elimination, and mostly zeros.
FactorGraph pigeons(int num_pigeons, int num_holes) {
  FactorGraph graph;
  for (int v = 0; v < num_pigeons; ++v) graph.add_variable(num_holes);
  for (int a = 0; a < num_pigeons; ++a) {
    for (int b = 0; b < a; ++b) {
      std::vector<double> table(static_cast<std::size_t>(num_holes) * static_cast<std::size_t>(num_holes), 0.0);
      for (int i = 0; i < num_holes; ++i) table[static_cast<std::size_t>(i * num_holes + i)] = kNegInf;
      graph.add_table({b, a}, table);
    }
  }
  return graph;
}

FactorGraph with_functions() {
  FactorGraph graph = testing::variables(6, 2);
  for (int v = 0; v + 1 < 6; ++v) {
    graph.add_factor(Factor::function(
        {v, v + 1}, [](std::span<const int> x) { return 0.3 * x[0] - 0.2 * x[1]; }, 0.3));
  }
  return graph;
}

struct Setting {
  std::string name;
  FactorGraph graph;
  Question question = {};
  InferOptions options = {};
};

// Every method, with what it is for.
std::vector<Setting> settings() {
  std::vector<Setting> all = {{"auto, chain", chain()},
                              {"auto, wide", grid(24)},
                              {"auto, zeros", pigeons(8, 12)},
                              {"auto, functions", with_functions()},
                              {"several", chain(), {.k_best = 2}},
                              {"samples", grid(24), {.samples = 3}}};
  for (const Method method : {Method::kTree, Method::kExact, Method::kCount, Method::kSis, Method::kSmc, Method::kGibbs,
                              Method::kBp, Method::kAis}) {
    all.push_back({to_string(method), grid(3), {}, {.method = method}});
  }
  for (const SelectRule rule : {SelectRule::kGap, SelectRule::kQUct, SelectRule::kMass}) {
    all.push_back({to_string(rule), grid(3), {}, {.method = Method::kSearch, .select = rule}});
    all.push_back({std::string(to_string(rule)) + ", functions",
                   with_functions(),
                   {},
                   {.method = Method::kSearch, .select = rule}});
  }
  for (const Method method : {Method::kLearned, Method::kMetropolis}) {
    all.push_back({to_string(method), with_functions(), {}, {.method = method}});
  }
  return all;
}

Answer run(const Setting& setting, double seconds, const FakeClock& clock, const Observer& observer = {}) {
  return infer_by(clock.time(), setting.graph, setting.question, {.seconds = seconds, .threads = 1}, setting.options,
                  observer);
}

TEST(Phases, APlanThatIsShownIsThePlanThatIsRun) {
  for (const Setting& setting : settings()) {
    const Limits limits{.seconds = 10.0, .threads = 1};
    const Plan shown = plan_by(FakeClock(kLook).time(), setting.graph, setting.question, limits, setting.options);
    const Plan done = run(setting, 10.0, FakeClock(kLook)).plan;
    EXPECT_FALSE(shown.phases.empty()) << setting.name;
    ASSERT_EQ(shown.phases.size(), done.phases.size()) << setting.name;
    for (std::size_t i = 0; i < done.phases.size(); ++i) {
      EXPECT_EQ(shown.phases[i].what, done.phases[i].what) << setting.name;
      // The shares are of what choosing the method has left; a run tells first bounds before.
      EXPECT_NEAR(shown.phases[i].until_seconds, done.phases[i].until_seconds, 10.0 * kLook) << setting.name;
      EXPECT_FALSE(shown.phases[i].ended_seconds) << setting.name;
    }
  }
}

TEST(Phases, EveryPhaseEndsWhenThePlanSays) {
  for (const Setting& setting : settings()) {
    double last = 0.0;
    for (const PlannedPhase& phase : run(setting, 10.0, FakeClock(kLook)).plan.phases) {
      EXPECT_LE(phase.until_seconds, 10.0) << setting.name << ", " << phase.what;
      if (!phase.ended_seconds) continue;
      EXPECT_LE(last, *phase.began_seconds) << setting.name << ", " << phase.what;
      EXPECT_LE(*phase.ended_seconds, phase.until_seconds + kLate) << setting.name << ", " << phase.what;
      last = *phase.ended_seconds;
    }
  }
}

TEST(Phases, TheRecordHasWhatFollowsTheMethodToo) {
  const Setting setting{"record", grid(4), {.k_best = 2, .samples = 2}};
  std::vector<std::string> done;
  for (const PlannedPhase& phase : run(setting, 10.0, FakeClock(kLook)).plan.phases) {
    if (phase.ended_seconds) done.push_back(phase.what);
  }
  const std::vector<std::string> expected{"elimination", "marginals",           "most probable configuration",
                                          "samples",     "best configurations", "proof of the best"};
  EXPECT_EQ(done, expected);
}

TEST(Phases, OneClockGivesTheSameBits) {
  for (const Setting& setting : settings()) {
    const Answer a = run(setting, 5.0, FakeClock(kLook)), b = run(setting, 5.0, FakeClock(kLook));
    EXPECT_EQ(a.log_z, b.log_z) << setting.name;
    EXPECT_EQ(a.lower, b.lower) << setting.name;
    EXPECT_EQ(a.upper, b.upper) << setting.name;
    EXPECT_EQ(a.marginals, b.marginals) << setting.name;
  }
}

// At any moment: the bounds that were told before stay, and hold.
TEST(Phases, AnEndOfTheTimeAtAnyMomentLosesNothing) {
  for (const Setting& setting : settings()) {
    if (setting.name.find("auto") == std::string::npos) continue;
    for (const double seconds : {0.05, 0.1, 0.3, 0.7, 1.5, 3.0}) {
      LogBounds told;
      const Answer answer =
          run(setting, seconds, FakeClock(kLook), {.progress = [&](const Progress& now) { told = now.log_z; }});
      EXPECT_GE(answer.lower.value_or(kNegInf), told.lower - 1e-9) << setting.name << " in " << seconds;
      EXPECT_LE(answer.upper.value_or(HUGE_VAL), told.upper + 1e-9) << setting.name << " in " << seconds;
      EXPECT_FALSE(answer.method.empty()) << setting.name << " in " << seconds;
    }
  }
}

TEST(Phases, AnInterruptionAtAnyMomentHasAnAnswer) {
  for (const Setting& setting : settings()) {
    for (const int num_looks : {1, 2, 5, 20, 100}) {
      int left = num_looks;
      const Answer answer = run(setting, 10.0, FakeClock(kLook), {.should_stop = [&] { return --left < 0; }});
      EXPECT_FALSE(answer.method.empty()) << setting.name << " after " << num_looks;
      if (left >= 0) continue;
      EXPECT_EQ(answer.stop, StopReason::kInterrupted) << setting.name << " after " << num_looks;
    }
  }
}

// ---- One policy of time --------------------------------------------------------------------------------------------

TEST(Phases, WithoutALimitARunIsOneOfTenSeconds) {
  for (const FactorGraph& graph : {chain(), grid(24), pigeons(8, 12)}) {
    const Answer open = infer_by(FakeClock(kLook).time(), graph, {}, {.threads = 1});
    const Answer ten = infer_by(FakeClock(kLook).time(), graph, {}, {.seconds = 10.0, .threads = 1});
    EXPECT_EQ(open.log_z, ten.log_z);
    EXPECT_EQ(open.lower, ten.lower);
    EXPECT_EQ(open.upper, ten.upper);
    EXPECT_EQ(open.marginals, ten.marginals);
    EXPECT_EQ(open.method, ten.method);
  }
}

TEST(Phases, AnExactRunTakesNoLongerWithMoreTime) {
  for (const FactorGraph& graph : {chain(), grid(8)}) {
    const FakeClock ten(kLook), thousand(kLook);
    EXPECT_TRUE(infer_by(ten.time(), graph, {}, {.seconds = 10.0, .threads = 1}).is_exact);
    EXPECT_TRUE(infer_by(thousand.time(), graph, {}, {.seconds = 1000.0, .threads = 1}).is_exact);
    // Elimination of the best configuration, given up in ten seconds, is replaced by a proof that looks less often.
    EXPECT_LE(thousand.seconds(), ten.seconds() + 30.0 * kLook);
  }
}

TEST(Phases, ARunOfLogZAloneEndsWhenItIsKnown) {
  for (const FactorGraph& graph : {chain(), grid(8), pigeons(8, 9)}) {
    const FakeClock alone(kLook), all(kLook);
    EXPECT_TRUE(infer_by(alone.time(), graph, {.aim = Aim::kLogZ}, {.seconds = 100.0, .threads = 1}).is_exact);
    EXPECT_TRUE(infer_by(all.time(), graph, {}, {.seconds = 100.0, .threads = 1}).is_exact);
    EXPECT_LE(alone.seconds(), all.seconds());
  }
}

TEST(Phases, CountingThatTakesTurnsTakesAtMostTwiceAsLong) {
  constexpr double kShort = 1e-4;  // elimination does not fit into ten seconds, and the count does
  const Question question{.aim = Aim::kLogZ};
  const FactorGraph graph = pigeons(9, 10);
  const FakeClock alone(kShort), turns(kShort);
  const Limits limits{.seconds = 10.0, .threads = 1};
  EXPECT_TRUE(infer_by(alone.time(), graph, question, limits, {.method = Method::kCount}).is_exact);
  const Answer answer = infer_by(turns.time(), graph, question, limits);
  EXPECT_TRUE(answer.is_exact) << answer.method;
  EXPECT_TRUE(answer.plan.counts_first) << answer.method;
  const double first = *answer.plan.phases.front().began_seconds;  // after the choice of the method
  EXPECT_LE(turns.seconds() - first, 2.0 * alone.seconds() + 50.0 * kShort) << answer.method;
}

// ---- Every rule, space and order -----------------------------------------------------------------------------------

TEST(Phases, EverySearchEndsWithTheTimeAndHasBounds) {
  for (const SelectRule rule : {SelectRule::kGap, SelectRule::kQUct, SelectRule::kMass}) {
    for (const SpaceKind space : {SpaceKind::kTree, SpaceKind::kGraph, SpaceKind::kAndOr}) {
      for (const OrderKind order : {OrderKind::kGiven, OrderKind::kMinFill}) {
        for (const std::int64_t num_samples : {0, 1'000'000'000}) {
          Setting setting{to_string(rule), grid(12), {.samples = num_samples}};
          setting.options = {.method = Method::kSearch, .select = rule, .space = space, .order = order};
          const FakeClock clock(kLook);
          const Answer answer = run(setting, 2.0, clock);
          EXPECT_LE(clock.seconds(), 2.0 + kLate) << answer.method;
          EXPECT_TRUE(answer.stop == StopReason::kTime || answer.is_exact) << answer.method;
          EXPECT_LE(answer.lower.value_or(kNegInf), answer.upper.value_or(HUGE_VAL)) << answer.method;
          EXPECT_TRUE(answer.log_z) << answer.method;
        }
      }
    }
  }
}

// What has no limit of its own says so on its first line.
TEST(Phases, CountingWithoutALimitSaysSo) {
  for (const InferOptions& options : {InferOptions{.method = Method::kCount}, InferOptions{.compile = true}}) {
    const Plan without = plan(chain(), {}, {}, options), with = plan(chain(), {}, {.seconds = 5.0}, options);
    ASSERT_FALSE(without.remarks.empty());
    EXPECT_NE(without.remarks.front().find("no time limit"), std::string::npos);
    EXPECT_TRUE(with.remarks.empty());
  }
}

TEST(Phases, AsAWordZeroSecondsAreNoLimit) {
  InferRequest request;
  set_option(request, "time", "0");
  EXPECT_EQ(request.limits.seconds, kNoTimeLimit);
  EXPECT_EQ(option_text(request, "time"), "0");
  set_option(request, "time", "2.5");
  EXPECT_EQ(request.limits.seconds, 2.5);
  EXPECT_EQ(option_text(request, "time"), "2.5");
}

}  // namespace
}  // namespace treesample
