// Evaluations that fail for good, and what they count as.
#include <gtest/gtest.h>

#include "support/oracle_programs.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/oracle/journal.hpp"
#include "treesample/oracle/oracle_set.hpp"

namespace treesample {
namespace {

using testing::message_of;

class FailureRules : public testing::OracleFolder {
 protected:
  // f at a=1, b=mid fails as long as the folder has no file "works"; everything else has a value.
  void write_failing(const std::string& failure) {
    write_program("if [1, 1] in request['assignments'] and not os.path.exists('works'):\n    " + failure);
  }
  [[nodiscard]] OracleOptions with_journal(bool retry_failed = false) const {
    return {.journal = in_folder("run.journal"), .retry_failed = retry_failed};
  }
  static double at(const OracleSet& oracles, int a, int b) {
    return oracles.graph().log_value(1, std::vector<int>{a, b});
  }
};

constexpr const char* kError = "answer = {'id': request['id'], 'error': 'diverged'}";
constexpr const char* kNan =
    "answer['log_values'] = [float('nan') if s == [1, 1] else value(s) for s in "
    "request['assignments']]";
constexpr const char* kCrash = "os._exit(1)";

TEST_F(FailureRules, WhatFailsCountsAsTheModelSaysAndIsNotPaidAgain) {
  for (const auto& [rule, expected] : std::vector<std::pair<std::string, double>>{
           {"\"impossible\"", kNegInf}, {"\"skip\"", kNegInf}, {"-7.5", -7.5}}) {
    for (const char* const failure : {kError, kNan, kCrash}) {
      std::filesystem::remove(in_folder("run.journal"));
      std::filesystem::remove(in_folder("paid.txt"));
      write_failing(failure);
      const std::string fields = "\"max_retries\": 1, \"on_failure\": " + rule;
      for (int run = 0; run < 2; ++run) {
        OracleSet oracles(model(fields), with_journal());
        EXPECT_EQ(at(oracles, 1, 1), expected);
        EXPECT_EQ(at(oracles, 0, 0), value(0, 0));
        EXPECT_EQ(at(oracles, 1, 1), expected);
        oracles.finish();
        const OracleCounts counts = oracles.counts()[0];
        EXPECT_EQ(counts.failed, run == 0 ? 1 : 0);
        EXPECT_EQ(counts.failed_from_journal, run == 0 ? 0 : 1);
        EXPECT_EQ(counts.paid, run == 0 ? 1 : 0);
        EXPECT_EQ(counts.repeated, 1);
      }
      EXPECT_EQ(num_paid(), 3);  // two attempts and the one that works
      const JournalSummary summary = journal_summary(in_folder("run.journal"));
      EXPECT_EQ(summary.factors[0].num_evaluations, 1);
      EXPECT_EQ(summary.factors[0].num_failures, 1);
      EXPECT_NE(summary.factors[0].last_failure.find("at states 1 1: program 'p': factor 'f' at a=1, b=mid failed"),
                std::string::npos);
    }
  }
}

TEST_F(FailureRules, WithoutARuleALaterRunTriesAgain) {
  write_failing(kError);
  {
    OracleSet oracles(model("\"max_retries\": 0"), with_journal());
    EXPECT_NE(message_of(ErrorCode::kIo, [&] { static_cast<void>(at(oracles, 1, 1)); }).find("diverged"),
              std::string::npos);
    EXPECT_EQ(oracles.counts()[0].failed, 1);
  }
  write_file_atomically(in_folder("works"), "");
  EXPECT_EQ(at(OracleSet(model("\"max_retries\": 0"), with_journal()), 1, 1), value(1, 1));
  EXPECT_EQ(journal_summary(in_folder("run.journal")).factors[0].num_evaluations, 1);
}

TEST_F(FailureRules, FailuresCanBeTriedAgainWhenAsked) {
  write_failing(kError);
  const std::string fields = "\"max_retries\": 0, \"on_failure\": \"impossible\"";
  EXPECT_EQ(at(OracleSet(model(fields), with_journal()), 1, 1), kNegInf);
  EXPECT_EQ(at(OracleSet(model(fields), with_journal(/*retry_failed=*/true)), 1, 1), kNegInf);
  EXPECT_EQ(num_paid(), 2);
  write_file_atomically(in_folder("works"), "");
  EXPECT_EQ(at(OracleSet(model(fields), with_journal()), 1, 1), kNegInf);
  EXPECT_EQ(num_paid(), 2);
  EXPECT_EQ(at(OracleSet(model(fields), with_journal(/*retry_failed=*/true)), 1, 1), value(1, 1));
  EXPECT_EQ(at(OracleSet(model(fields), with_journal()), 1, 1), value(1, 1));
  EXPECT_EQ(num_paid(), 3);
}

TEST_F(FailureRules, InABatchOneFailureIsThatOfOneAssignment) {
  write_program(
      "answer['log_values'] = [{'error': 'diverged'} if s == [1, 1] else value(s) for s in "
      "request['assignments']]");
  OracleSet oracles(model("\"max_batch\": 6, \"max_retries\": 0, \"on_failure\": \"impossible\""), {});
  std::vector<OracleQuestion> questions;
  for (int i = 0; i < 6; ++i) questions.push_back({1, {i / 3, i % 3}});
  const OracleAnswer answer = oracles.wait(oracles.submit(questions));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(answer.log_values[i], i == 4 ? kNegInf : value(i / 3, i % 3));
  EXPECT_EQ(num_paid(), 7);  // the others are not paid again
}

// A model of 30 states, of which the last 10 fail.
TEST_F(FailureRules, TooManyFailuresEndTheRunAlsoWhenTheyAreRecorded) {
  write_program("answer['log_values'] = [{'error': 'diverged'} if s[0] >= 20 else 0 for s in request['assignments']]");
  const auto described = [&](const std::string& share) {
    JsonModel changed = model("\"max_retries\": 0, \"on_failure\": \"skip\"" + share);
    changed.variables[0].num_states = 30;
    changed.factors[0].log_values.assign(30, 0.0);
    return changed;
  };
  for (int run = 0; run < 2; ++run) {
    OracleSet oracles(described(""), with_journal());
    for (int a = 0; a < 25; ++a) EXPECT_EQ(at(oracles, a, 0), a < 20 ? 0.0 : kNegInf);
    EXPECT_EQ(message_of(ErrorCode::kIo, [&] { static_cast<void>(at(oracles, 25, 0)); }),
              "program 'p': 6 of its 26 evaluations failed, allowed is a share of 0.2 (max_failure_share); the last: "
              "program 'p': factor 'f' at a=25, b=low failed: it says: diverged");
  }
  OracleSet oracles(described(", \"max_failure_share\": 0.5"), with_journal());
  for (int a = 0; a < 30; ++a) EXPECT_EQ(at(oracles, a, 0), a < 20 ? 0.0 : kNegInf);
  EXPECT_EQ(num_paid(), 30);
}

TEST_F(FailureRules, AProgramThatCannotBeUsedAtAllIsNoFailureOfAnEvaluation) {
  write_file_atomically(in_folder("mine.py"), "def f(a, b:\n");
  JsonModel described = model("\"on_failure\": \"impossible\"");
  described.programs[0].python = "mine.py";
  described.programs[0].command = {"python3", "mine.py"};
  OracleSet oracles(described, with_journal());
  EXPECT_NE(message_of(ErrorCode::kIo, [&] { static_cast<void>(at(oracles, 1, 1)); }).find("cannot be used"),
            std::string::npos);
  oracles.finish();
  EXPECT_EQ(oracles.counts()[0].failed, 0);
}

// A function of 30 states, of which those from `first` on fail.
FactorGraph failing_function(int first, std::optional<double> log_max = {}) {
  FactorGraph graph;
  graph.add_variable(30);
  graph.add_factor(Factor::function(
      {0},
      [first](std::span<const int> x) -> double {
        if (x[0] >= first) throw Error(ErrorCode::kIo, "diverged");
        return -1.0;
      },
      log_max));
  return graph;
}

// Bounds are made of log_max: they would be wrong.
TEST(FailureRulesOfFunctions, AFailureCountsAsNoMoreThanLogMax) {
  using Kind = FailureRule::Kind;
  const auto make = [](double value, std::optional<double> log_max) {
    OracleSet(failing_function(20, log_max), "1", {.on_failure = {{0, {Kind::kValue, value}}}});
  };
  const auto problem = [&](double value, std::optional<double> log_max = {}) {
    return message_of(ErrorCode::kArgument, [&] { make(value, log_max); });
  };
  EXPECT_EQ(problem(5.0, 0.0), "OracleSet: on_failure of factor 0 is 5, above its declared log_max of 0");
  for (const double value : {HUGE_VAL, -1e301, 1e9}) {
    EXPECT_NE(problem(value).find("allowed are -inf and numbers from"), std::string::npos) << value;
  }
  EXPECT_NE(problem(std::nan("")).find("on_failure of factor 0 is nan"), std::string::npos);
  make(0.0, 0.0);
  make(kNegInf, 0.0);
}

// What a failure counts as is no value of the function: taken for one, -inf at the highest states made all others
// impossible, and that was certified.
TEST(FailureRulesOfFunctions, AFailureOfAMonotoneFunctionEndsTheRun) {
  const Factor increasing = failing_function(20).factor(0).monotone({Direction::kIncreasing});
  FactorGraph graph;
  graph.add_variable(30);
  graph.add_factor(increasing);
  for (const FailureRule& rule : {FailureRule{FailureRule::Kind::kImpossible}, {FailureRule::Kind::kValue, -1.0}}) {
    EXPECT_NE(message_of(ErrorCode::kArgument,
                         [&] {
                           OracleSet(graph, "1", {.on_failure = {{0, rule}}});
                         })
                  .find("factor 0 is declared monotone: a failure must end the run"),
              std::string::npos);
  }
  OracleSet(graph, "1", {.on_failure = {{0, {}}}});
}

TEST(FailureRulesOfFunctions, TooManyFailuresEndTheRunUnlessMoreAreAllowed) {
  OracleOptions options{.on_failure = {{0, {FailureRule::Kind::kSkip}}}};
  const auto ask_all = [&](int first) {
    const OracleSet oracles(failing_function(first), "1", options);
    for (int x = 0; x < 30; ++x) static_cast<void>(oracles.graph().log_value(0, std::vector<int>{x}));
  };
  EXPECT_NE(message_of(ErrorCode::kIo, [&] { ask_all(20); })
                .find("function: 6 of its 26 evaluations failed, allowed is a share of 0.2"),
            std::string::npos);
  EXPECT_NE(message_of(ErrorCode::kIo, [&] { ask_all(0); }).find("20 of its 20 evaluations failed"), std::string::npos);
  ask_all(25);
  options.max_failure_share[0] = 0.5;
  ask_all(20);
  options.max_failure_share[0] = 1.5;
  EXPECT_EQ(message_of(ErrorCode::kArgument, [&] { ask_all(20); }),
            "OracleSet: max_failure_share of factor 0 is 1.5, allowed are numbers from 0 to 1");
}

}  // namespace
}  // namespace treesample
