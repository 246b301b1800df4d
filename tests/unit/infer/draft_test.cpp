// What an answer may still call exact once rounding in the simplified model is counted.
#include "infer/draft.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// Two entries that are equal as doubles, and need not be so as the numbers that were given.
FactorGraph equal_as_doubles() {
  FactorGraph graph = testing::variables({2, 2});
  graph.add_table({0}, {1e14, 1e14});
  graph.add_table({0, 1}, {0.1, 0.2, 0.3, 0.5});
  graph.add_table({}, {-1e14});
  return graph;
}

void expect_consistent(const Answer& answer, const std::string& what) {
  if (answer.marginals_from.starts_with("exact") || answer.stop == StopReason::kExact) {
    EXPECT_TRUE(answer.is_exact) << what << ": " << answer.marginals_from;
  }
  for (const double error : answer.marginal_errors) {
    EXPECT_TRUE(answer.is_exact || error > 1e-6) << what;
  }
}

TEST(Draft, NothingIsExactWhereRoundingLeavesLogZInDoubt) {
  const FactorGraph graph = equal_as_doubles();
  for (const Method method : {Method::kExact, Method::kCount}) {
    const Answer answer = infer(graph, {}, {}, {.method = method});
    EXPECT_FALSE(answer.is_exact);
    expect_consistent(answer, to_string(method));
    // Truth, for 1e14 + 0.007 and 1e14 - 0.007.
    ASSERT_TRUE(answer.marginals_error);
    EXPECT_GE(*answer.marginals_error, 0.4404 - answer.marginals[0][0]);
  }
  for (const SelectRule rule : {SelectRule::kGap, SelectRule::kMass, SelectRule::kQUct}) {
    const Answer answer = infer(graph, {}, {}, {.method = Method::kSearch, .select = rule});
    EXPECT_FALSE(answer.is_exact);
    expect_consistent(answer, to_string(rule));
    EXPECT_EQ(answer.stop, StopReason::kRounding) << to_string(rule);
  }
  expect_consistent(infer(graph), "auto");
}

TEST(Draft, RejectionSamplesAreExactOnlyWhereTheModelIs) {
  Question question;
  question.samples = 2;
  const InferOptions options{
      .method = Method::kSearch, .select = SelectRule::kGap, .sampler = SampleSource::kRejection};
  EXPECT_FALSE(infer(equal_as_doubles(), question, {}, options).has_exact_samples);
  FactorGraph plain = testing::variables({2});
  plain.add_table({0}, {0.1, 0.2});
  EXPECT_TRUE(infer(plain, question, {}, options).has_exact_samples);
}

TEST(Draft, AnIntervalNeverExceedsTheBounds) {
  Draft draft;
  draft.bounded_importance = BoundedImportance{.interval = {kNegInf, 7.0}};
  draft.sampled_interval = {{kNegInf, 7.0}, 0.95};
  draft.known.bound({-4.0, 5.0});
  const Answer answer = std::move(draft).answer();
  EXPECT_EQ(answer.bounded_importance->interval.lower, -4.0);
  EXPECT_EQ(answer.bounded_importance->interval.upper, 5.0);
  EXPECT_EQ(answer.sampled_interval->log_z.lower, -4.0);
  EXPECT_EQ(answer.sampled_interval->log_z.upper, 5.0);
}

TEST(Draft, ATreeSearchThatFoundAConfigurationHasALowerBound) {
  FactorGraph graph = testing::variables(24, 2);
  for (int v = 0; v + 1 < 24; ++v) graph.add_table({v, v + 1}, {-0.3, -0.7, v % 2 == 0 ? kNegInf : -0.2, -0.1});
  const Answer answer = infer(
      graph, {}, {.budget = 200},
      {.method = Method::kSearch, .select = SelectRule::kQUct, .space = SpaceKind::kTree, .order = OrderKind::kGiven});
  ASSERT_TRUE(answer.best && answer.lower);
  EXPECT_FALSE(answer.is_exact);
  EXPECT_GE(*answer.lower, answer.best->log_density - 1e-9);
}

TEST(Draft, LimitsAreCheckedAsTheyWereGiven) {
  FactorGraph graph = testing::variables({2});
  graph.add_table({0}, {0.1, 0.2});
  testing::expect_error(ErrorCode::kArgument, "is -1,", [&] { (void)infer(graph, {}, {.seconds = -1.0}); });
}

// A 95 % interval misses now and then. Cut off at certified bounds that exclude it, it would be a point at one of them.
TEST(Draft, CertifiedBoundsTakeThePlaceOfAnIntervalThatIsOutOfPlace) {
  for (const bool is_exact : {false, true}) {
    const LogBounds certified{3.0, is_exact ? 3.0 + 1e-9 : 4.0};
    for (const LogBounds& missed : {LogBounds{1.0, 2.0}, LogBounds{5.0, 6.0}}) {
      Draft draft;
      draft.known.bound(certified);
      draft.bounded_importance = BoundedImportance{.interval = missed};
      draft.sampled_interval = {missed, 0.95};
      const Answer answer = std::move(draft).answer();
      for (const LogBounds& interval : {answer.bounded_importance->interval, answer.sampled_interval->log_z}) {
        EXPECT_EQ(interval.lower, certified.lower);
        EXPECT_EQ(interval.upper, certified.upper);
      }
    }
  }
  Draft open;
  open.known.bound({3.0, 4.0});
  open.bounded_importance = BoundedImportance{.interval = {2.0, 3.7}};
  const Answer answer = std::move(open).answer();
  EXPECT_EQ(answer.bounded_importance->interval.lower, 3.0);
  EXPECT_EQ(answer.bounded_importance->interval.upper, 3.7);
}

TEST(Draft, AnInterruptionIsToldEvenIfLogZWasExact) {
  FactorGraph graph;
  for (int v = 0; v < 4; ++v) graph.add_variable(2);
  for (int v = 0; v + 1 < 4; ++v) graph.add_table({v, v + 1}, {0.1, 0.7, 0.4, 0.2});
  std::vector<std::string> remarks;
  const Answer answer =
      infer(graph, {.map = {"x0"}}, {}, {},
            {.should_stop = [] { return true; }, .remark = [&](const std::string& text) { remarks.push_back(text); }});
  EXPECT_TRUE(answer.is_exact);
  EXPECT_EQ(answer.stop, StopReason::kInterrupted);
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks.front(), "interrupted: the search for the most probable states (--map)");
}

// Each table has entries of 1, so that the product of the maxima says 2^20.
TEST(Draft, TheProbabilityOfEvidenceIsAtMostOneWhateverTheMethod) {
  FactorGraph graph;
  for (int v = 0; v < 20; ++v) graph.add_variable(2);
  graph.add_table({0}, {std::log(0.5), std::log(0.5)});
  for (int v = 1; v < 20; ++v) graph.add_table({v - 1, v}, {0.0, kNegInf, std::log(0.3), std::log(0.7)});
  Model model(graph);
  model.evidence = {{19, 0}};
  for (const Method method : {Method::kSmc, Method::kBp}) {
    const Answer answer = infer(model, {}, {.budget = 1000}, {.method = method});
    ASSERT_TRUE(answer.upper) << to_string(method);
    EXPECT_GE(*answer.upper, 0.0) << to_string(method);
    EXPECT_LT(*answer.upper, 1e-13) << to_string(method);
  }
}

}  // namespace
}  // namespace treesample
