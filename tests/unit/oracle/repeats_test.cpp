// Evaluations that are made again, to see whether they give the same value.
#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.hpp"
#include "treesample/oracle/oracle_set.hpp"
#include "treesample/reduce/evidence.hpp"

namespace treesample {
namespace {

class RepeatedEvaluations : public testing::TemporaryFolder {
 protected:
  RepeatedEvaluations() {
    graph_.add_variable(2);
    graph_.add_variable(3);
    graph_.add_factor(
        Factor::function({0, 1}, [this](std::span<const int> s) { return s[0] + 10.0 * s[1] + calls_++; }));
  }
  [[nodiscard]] OracleOptions options() const { return {.journal = in_folder("run.journal")}; }
  static double ask(EvaluationQueue& queue, std::vector<int> states, int repeat) {
    return queue.wait(queue.submit({{0, std::move(states), repeat}})).log_values[0];
  }

  FactorGraph graph_;
  int calls_ = 0;
};

TEST_F(RepeatedEvaluations, ArePaidAgainAndRemembered) {
  for (int process = 0; process < 2; ++process) {
    OracleSet oracles(graph_, "1", options());
    EXPECT_TRUE(oracles.can_repeat());
    EXPECT_EQ(ask(oracles, {1, 2}, 0), 21.0);
    EXPECT_EQ(ask(oracles, {1, 2}, 1), 22.0);
    EXPECT_EQ(ask(oracles, {0, 0}, 0), 2.0);
    EXPECT_EQ(ask(oracles, {1, 2}, 2), 24.0);
    EXPECT_EQ(ask(oracles, {1, 2}, 1), 22.0);
    EXPECT_EQ(ask(oracles, {1, 2}, 0), 21.0);
    EXPECT_EQ(calls_, 4);
    const std::vector<KnownValue> known = oracles.known_values();
    ASSERT_EQ(known.size(), 4U);
    const std::vector<double> values = {known[0].log_value, known[1].log_value, known[2].log_value, known[3].log_value};
    EXPECT_EQ(values, (std::vector<double>{21.0, 22.0, 2.0, 24.0}));
    EXPECT_EQ(known[3].number, 4);
  }
}

TEST_F(RepeatedEvaluations, AtTheSameTimeAreTwo) {
  OracleSet oracles(graph_, "1", {.num_workers = 1});
  const Ticket first = oracles.submit({{0, {1, 1}, 0}}), again = oracles.submit({{0, {1, 1}, 1}});
  const double a = oracles.wait(first).log_values[0], b = oracles.wait(again).log_values[0];
  EXPECT_EQ(std::abs(a - b), 1.0);
}

TEST_F(RepeatedEvaluations, PassThroughEvidence) {
  OracleSet oracles(graph_, "1", options());
  const ReducedModel reduced = condition(oracles.graph(), {{0, 1}});
  EvaluationQueue& queue = *reduced.graph.evaluation_queue();
  EXPECT_TRUE(queue.can_repeat());
  EXPECT_EQ(ask(queue, {2}, 0), 21.0);
  EXPECT_EQ(ask(queue, {2}, 1), 22.0);
}

TEST(SkippedFailures, AreMissingAndImpossibleOnesAreNot) {
  FactorGraph graph;
  graph.add_variable(2);
  graph.add_factor(Factor::function({0}, [](std::span<const int> s) { return s[0] == 0 ? NAN : 1.0; }));
  for (const auto kind : {FailureRule::Kind::kSkip, FailureRule::Kind::kImpossible}) {
    OracleSet oracles(graph, "1", {.on_failure = {{0, {kind}}}});
    for (int again = 0; again < 2; ++again) {  // from memory, too
      const OracleAnswer failed = oracles.wait(oracles.submit({{0, {1}}, {0, {0}}}));
      EXPECT_EQ(failed.log_values, (std::vector<double>{1.0, -HUGE_VAL}));
      const bool is_missing = failed.is_missing.size() == 2 && failed.is_missing[1];
      EXPECT_EQ(is_missing, kind == FailureRule::Kind::kSkip);
    }
  }
}

}  // namespace
}  // namespace treesample
