#include "treesample/oracle/oracle_set.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <map>
#include <set>
#include <thread>

#include "support/oracle_programs.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/oracle/journal.hpp"
#include "treesample/reduce/evidence.hpp"
#include "treesample/space/budget.hpp"

namespace treesample {
namespace {

using testing::message_of;

// A C++ model: a table and a function that counts its calls.
class OracleSetOfFunctions : public testing::TemporaryFolder {
 protected:
  OracleSetOfFunctions() {
    graph_.add_variable(3);
    graph_.add_variable({.num_states = 4, .name = "b"});
    graph_.add_table({0}, {0.0, -1.0, -2.0});
    graph_.add_factor(Factor::function({0, 1}, [this](std::span<const int> states) {
      ++calls_;
      return value(states[0], states[1]);
    }));
  }
  static double value(int a, int b) { return a == 2 && b == 3 ? kNegInf : -(a * 4 + b) / 3.0; }
  [[nodiscard]] OracleOptions with_journal(int num_workers = 1) const {
    return {.num_workers = num_workers, .journal = in_folder("run.journal")};
  }

  FactorGraph graph_;
  std::atomic<int> calls_ = 0;
};

TEST_F(OracleSetOfFunctions, WhatMayBeBegunIsCountedAndWhatIsKnownIsFree) {
  OracleSet oracles(graph_, "1", {});
  EXPECT_EQ(oracles.num_left(), EvaluationQueue::kUnlimited);
  const auto ask = [&](int a, int b) { return oracles.graph().log_value(1, std::vector<int>{a, b}); };
  ask(0, 0);
  oracles.set_most_new(2);
  EXPECT_EQ(oracles.num_left(), 2);
  ask(0, 0);
  EXPECT_EQ(oracles.num_left(), 2);
  ask(0, 1);
  EXPECT_EQ(oracles.num_left(), 1);
  // An evidence keeps the limit, and a budget in any unit keeps to it.
  const FactorGraph conditioned = condition(oracles.graph(), {{0, 1}}).graph;
  EXPECT_EQ(conditioned.evaluation_queue()->num_left(), 1);
  Budget budget(100, BudgetUnit::kReward, conditioned.evaluation_queue());
  EXPECT_TRUE(budget.allows(Spending{1, 1, 0.0, 1}));
  EXPECT_TRUE(budget.allows(Spending{1, 1, 0.0, 0}));
  EXPECT_FALSE(budget.allows(Spending{1, 2, 0.0, 2}));
  budget.reserve({1, 1, 0.0, 1});
  EXPECT_FALSE(budget.allows(Spending{1, 1, 0.0, 1}));
  oracles.set_most_new(EvaluationQueue::kUnlimited);
  EXPECT_TRUE(budget.allows(Spending{1, 1, 0.0, 1}));
}

TEST_F(OracleSetOfFunctions, TheGraphHasTheSameValuesAndPaysOnceForEach) {
  OracleSet oracles(graph_, "1", {});
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 4; ++b) {
        const std::vector<int> x = {a, b};
        EXPECT_EQ(oracles.graph().log_density(x), graph_.factor(0).log_values()[a] + value(a, b));
      }
    }
  }
  EXPECT_EQ(calls_, 12);
  const OracleCounts counts = oracles.counts()[0];
  EXPECT_EQ(counts.factor, 1);
  EXPECT_EQ(counts.name, "factor 1");
  EXPECT_EQ(counts.paid, 12);
  EXPECT_EQ(counts.repeated, 24);
  EXPECT_EQ(counts.from_journal, 0);
  EXPECT_EQ(oracles.num_pending(), 0);
}

TEST_F(OracleSetOfFunctions, ASecondRunReusesTheJournalForFree) {
  std::vector<double> first;
  double paid_seconds = 0.0;
  {
    OracleSet oracles(graph_, "1", with_journal());
    for (int b = 0; b < 4; ++b) first.push_back(oracles.graph().log_value(1, std::vector<int>{2, b}));
    paid_seconds = oracles.counts()[0].paid_seconds;
  }
  OracleSet oracles(graph_, "1", with_journal());
  EXPECT_DOUBLE_EQ(oracles.cost(1).value(), paid_seconds / 4);
  for (int b = 0; b < 4; ++b) EXPECT_EQ(oracles.graph().log_value(1, std::vector<int>{2, b}), first[b]);
  EXPECT_EQ(oracles.graph().log_value(1, std::vector<int>{2, 0}), first[0]);
  EXPECT_EQ(calls_, 4);
  EXPECT_EQ(oracles.counts()[0].from_journal, 4);
  EXPECT_EQ(oracles.counts()[0].repeated, 1);
  EXPECT_EQ(oracles.counts()[0].paid, 0);
  EXPECT_DOUBLE_EQ(oracles.counts()[0].journal_seconds, paid_seconds);
}

TEST_F(OracleSetOfFunctions, AnotherVersionOfTheFunctionsIsRefused) {
  { OracleSet(graph_, "1", with_journal()); }
  const std::string message = message_of(ErrorCode::kArgument, [&] { OracleSet(graph_, "2", with_journal()); });
  EXPECT_NE(message.find("changed is: the version of the functions;"), std::string::npos) << message;
}

TEST_F(OracleSetOfFunctions, EvidenceReusesTheJournalOfTheWholeModel) {
  OracleSet oracles(graph_, "1", {});
  static_cast<void>(oracles.graph().log_value(1, std::vector<int>{1, 2}));
  const ReducedModel conditioned = condition(oracles.graph(), {{0, 1}});
  EXPECT_EQ(conditioned.graph.log_value(1, std::vector<int>{2}), value(1, 2));
  EXPECT_EQ(calls_, 1);
}

TEST_F(OracleSetOfFunctions, TicketsAreAnsweredInTheOrderOfTheirQuestions) {
  OracleSet oracles(graph_, "1", with_journal(3));
  std::map<Ticket, std::vector<int>> expected;
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 4; ++b) expected[oracles.submit({{1, {a, b}}, {1, {0, 0}}, {1, {a, b}}})] = {a, b};
  }
  EXPECT_EQ(oracles.num_pending(), 12);
  std::set<Ticket> seen;
  while (oracles.num_pending() > 0) {
    for (const OracleAnswer& answer : oracles.wait_any()) {
      const std::vector<int>& x = expected.at(answer.ticket);
      EXPECT_EQ(answer.log_values, (std::vector<double>{value(x[0], x[1]), value(0, 0), value(x[0], x[1])}));
      EXPECT_EQ(answer.costs[2], 0.0);  // asked before
      EXPECT_TRUE(seen.insert(answer.ticket).second);
    }
  }
  EXPECT_EQ(seen.size(), 12U);
  EXPECT_EQ(calls_, 12);  // equal questions under way are paid once
  EXPECT_EQ(message_of(ErrorCode::kArgument, [&] { oracles.wait_any(); }), "OracleSet::wait_any: nothing is pending");
}

TEST_F(OracleSetOfFunctions, OneTicketCanBeWaitedFor) {
  OracleSet oracles(graph_, "1", with_journal(2));
  const Ticket first = oracles.submit({{1, {0, 1}}});
  const Ticket second = oracles.submit({{1, {0, 2}}});
  EXPECT_EQ(oracles.wait(second).log_values[0], value(0, 2));
  EXPECT_EQ(message_of(ErrorCode::kArgument, [&] { oracles.wait(second); }),
            "OracleSet::wait: ticket 1 is not pending");
  EXPECT_EQ(oracles.wait(first).log_values[0], value(0, 1));
  EXPECT_EQ(oracles.submit({}), 2);  // an empty ticket is answered at once
  EXPECT_EQ(oracles.wait_any()[0].ticket, 2);
}

TEST_F(OracleSetOfFunctions, QuestionsAreChecked) {
  OracleSet oracles(graph_, "1", {});
  const auto refusal = [&](OracleQuestion question) {
    return message_of(ErrorCode::kArgument, [&] { oracles.submit({question}); });
  };
  EXPECT_EQ(refusal({2, {0, 0}}), "OracleSet::submit: factor is 2, allowed are 0 to 1");
  EXPECT_EQ(refusal({0, {0}}), "OracleSet::submit: factor 0 is a table");
  EXPECT_EQ(refusal({1, {0}}), "OracleSet::submit: 1 states for the 2 variables of factor 1");
  EXPECT_EQ(refusal({1, {0, 4}}), "OracleSet::submit: state is 4, allowed are 0 to 3");
  EXPECT_EQ(oracles.num_pending(), 0);
  EXPECT_EQ(message_of(ErrorCode::kArgument, [&] { OracleSet(graph_, "1", {.num_workers = 0}); }),
            "OracleOptions: num_workers is 0, allowed are 1 to 1024");
}

TEST_F(OracleSetOfFunctions, AFailureNamesTheAssignmentAndLosesNothingElse) {
  FactorGraph graph;
  graph.add_variable({.num_states = 3, .name = "b", .state_names = {"low", "mid", "high"}});
  std::atomic<bool> is_broken = true;
  graph.add_factor(Factor::function({0}, [&](std::span<const int> states) {
    if (states[0] == 1 && is_broken) throw std::runtime_error("no convergence");
    return states[0] == 2 ? std::nan("") : -1.0 * states[0];
  }));
  OracleSet oracles(graph, "1", with_journal());
  const Ticket bad = oracles.submit({{0, {1}}});
  const Ticket good = oracles.submit({{0, {0}}});
  const Ticket nan = oracles.submit({{0, {2}}});
  EXPECT_EQ(message_of(ErrorCode::kIo, [&] { oracles.wait(bad); }),
            "function: factor 'factor 0' at b=mid failed: no convergence");
  EXPECT_EQ(oracles.wait(good).log_values[0], 0.0);
  EXPECT_EQ(message_of(ErrorCode::kNumeric, [&] { oracles.wait(nan); }),
            "function: factor 'factor 0' at b=high failed: a log-value of nan, allowed are -inf and numbers from "
            "-1e+300 to 17000000");
  EXPECT_EQ(oracles.num_pending(), 0);
  EXPECT_EQ(oracles.counts()[0].failures, 2);
  is_broken = false;  // a failure is not remembered
  EXPECT_EQ(oracles.graph().log_value(0, std::vector<int>{1}), -1.0);
  EXPECT_EQ(oracles.counts()[0].paid, 2);
}

TEST_F(OracleSetOfFunctions, WaitAnySaysWhichTicketFailed) {
  FactorGraph graph;
  graph.add_variable(3);
  graph.add_factor(Factor::function({0}, [](std::span<const int> states) {
    if (states[0] == 1) throw std::runtime_error("broken");
    return 0.0;
  }));
  OracleSet oracles(graph, "1", {});
  for (int state = 0; state < 3; ++state) oracles.submit({{0, {state}}});
  int num_answers = 0;
  while (oracles.num_pending() > 0) {
    for (const OracleAnswer& answer : oracles.wait_any()) {
      EXPECT_EQ(answer.error.has_value(), answer.ticket == 1);
      ++num_answers;
    }
  }
  EXPECT_EQ(num_answers, 3);
}

// A limit on the size of files stands for a full disk.
// What a kill would cost is one evaluation per worker: none begins another before its last one is on the disk.
TEST_F(OracleSetOfFunctions, AWorkerRecordsItsEvaluationBeforeItBeginsAnother) {
  OracleSet oracles(graph_, "1", with_journal(3));
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 4; ++b) oracles.submit({{1, {a, b}}});
  }
  while (calls_ < 3) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // time for a worker that does not wait
  EXPECT_EQ(calls_, 3);
  while (oracles.num_pending() > 0) oracles.wait_any();
  EXPECT_EQ(calls_, 12);
}

TEST_F(OracleSetOfFunctions, WhatCannotBeRecordedIsNotUsedAndNotLost) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  {
    OracleSet oracles(graph_, "1", with_journal());
    EXPECT_EQ(oracles.graph().log_value(1, std::vector<int>{0, 0}), value(0, 0));
    rlimit small = before;
    small.rlim_cur = 4096;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string message = message_of(ErrorCode::kWrite, [&] {
      static_cast<void>(oracles.graph().log_value(1, std::vector<int>{0, 1}));
    });
    EXPECT_NE(message.find("run.journal: cannot be"), std::string::npos) << message;
    EXPECT_NE(message.find("what was recorded before is safe"), std::string::npos) << message;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(oracles.graph().log_value(1, std::vector<int>{0, 1}), value(0, 1));
    EXPECT_EQ(calls_, 2);  // the value was still there
    EXPECT_EQ(oracles.num_pending(), 0);
  }
  EXPECT_EQ(journal_summary(in_folder("run.journal")).factors[0].num_evaluations, 2);
}

class OracleSetOfPrograms : public testing::OracleFolder {};

TEST_F(OracleSetOfPrograms, TheProgramComputesTheFactor) {
  write_program("");
  {
    OracleSet oracles(model(), {.journal = in_folder("run.journal")});
    EXPECT_EQ(num_processes(), 0);  // nothing is started before it is needed
    for (int a = 0; a < 2; ++a) {
      for (int b = 0; b < 3; ++b) {
        EXPECT_EQ(oracles.graph().log_value(1, std::vector<int>{a, b}), value(a, b));
      }
    }
    EXPECT_EQ(num_processes(), 1);
    EXPECT_EQ(oracles.graph().log_value(0, std::vector<int>{1, 0}), std::log(2.0));
  }
  EXPECT_EQ(num_processes(), 0);
  EXPECT_TRUE(has_no_children());
  const JournalSummary summary = journal_summary(in_folder("run.journal"));
  ASSERT_EQ(summary.factors.size(), 1U);
  EXPECT_EQ(summary.factors[0].name, "f");
  EXPECT_EQ(summary.factors[0].scope, "a, b");
  EXPECT_EQ(summary.factors[0].num_evaluations, 6);
  EXPECT_GT(summary.factors[0].seconds, 0.0);
  OracleSet again(model(), {.journal = in_folder("run.journal")});
  EXPECT_EQ(again.graph().log_value(1, std::vector<int>{1, 2}), value(1, 2));
  EXPECT_EQ(num_processes(), 0);
  EXPECT_EQ(num_paid(), 6);
}

TEST_F(OracleSetOfPrograms, AChangedProgramIsRefused) {
  write_program("");
  { OracleSet(model(), {.journal = in_folder("run.journal")}); }
  write_program("pass");
  const std::string message =
      message_of(ErrorCode::kArgument, [&] { OracleSet(model(), {.journal = in_folder("run.journal")}); });
  EXPECT_NE(message.find("changed is: file 'program.py' of program 'p';"), std::string::npos) << message;
}

TEST_F(OracleSetOfPrograms, EveryWorkerHasAProgramOfItsOwn) {
  // Nobody answers before three programs have been asked.
  write_program("while len(open('paid.txt').readlines()) < 3:\n    time.sleep(0.001)");
  OracleSet oracles(model(), {.num_workers = 3});
  for (int b = 0; b < 3; ++b) oracles.submit({{1, {0, b}}});
  for (Ticket ticket = 0; ticket < 3; ++ticket) {
    EXPECT_EQ(oracles.wait(ticket).log_values[0], value(0, static_cast<int>(ticket)));
  }
  EXPECT_EQ(num_processes(), 3);
}

TEST_F(OracleSetOfPrograms, BatchesAreAsLargeAsTheProgramAllows) {
  write_program("with open('batches.txt', 'a') as f:\n    f.write(str(len(request['assignments'])) + ' ')");
  OracleSet oracles(model("\"max_batch\": 4"), {});
  const Ticket ticket = oracles.submit({{1, {0, 0}}, {1, {0, 1}}, {1, {0, 2}}, {1, {1, 0}}, {1, {1, 1}}, {1, {1, 2}}});
  const OracleAnswer answer = oracles.wait(ticket);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(answer.log_values[i], value(i / 3, i % 3));
  const std::string batches = read_file(in_folder("batches.txt"));
  EXPECT_EQ(batches, "4 2 ");
  EXPECT_EQ(oracles.max_under_way(), 4);
  EXPECT_EQ(OracleSet(model("\"max_batch\": 4"), {.num_workers = 3}).max_under_way(), 12);
}

TEST_F(OracleSetOfPrograms, AValueAboveItsDeclaredMaximumIsPaidAndRecordedButNeverUsed) {
  write_program("");
  JsonModel described = model();
  described.factors[1].log_max = -0.5;
  const std::string expected =
      "program 'p': factor 'f' at a=0, b=low has the log-value -0.14285714285714285, above its declared log_max of "
      "-0.5";
  for (int run = 0; run < 2; ++run) {
    OracleSet oracles(described, {.journal = in_folder("run.journal")});
    EXPECT_EQ(oracles.graph().log_value(1, std::vector<int>{1, 0}), value(1, 0));
    EXPECT_EQ(message_of(ErrorCode::kArgument, [&] { oracles.wait(oracles.submit({{1, {0, 0}}})); }), expected);
    oracles.finish();
    EXPECT_EQ(oracles.counts()[0].paid, run == 0 ? 2 : 0);
  }
  EXPECT_EQ(num_paid(), 2);
  described.factors[1].log_max = 0.0;
  OracleSet oracles(described, {.journal = in_folder("run.journal")});
  EXPECT_EQ(oracles.graph().log_value(1, std::vector<int>{0, 0}), value(0, 0));
  EXPECT_EQ(num_paid(), 2);
}

TEST_F(OracleSetOfPrograms, AFinishedSetHasRecordedEverythingAndPaysForNothingMore) {
  write_program("if states != [0, 0]:\n    while not os.path.exists('go'):\n        time.sleep(0.001)");
  OracleSet oracles(model(), {.num_workers = 2, .journal = in_folder("run.journal")});
  const Ticket first = oracles.submit({{1, {0, 0}}});
  oracles.submit({{1, {1, 1}}});
  oracles.wait(first);
  ASSERT_TRUE(wait_until([&] { return num_paid() == 2; }));
  oracles.finish();
  EXPECT_EQ(oracles.counts()[0].paid, 1);
  EXPECT_EQ(oracles.graph().log_value(1, std::vector<int>{0, 0}), value(0, 0));
  EXPECT_EQ(message_of(ErrorCode::kArgument,
                       [&] {
                         oracles.submit({{1, {0, 1}}});
                       }),
            "OracleSet::submit: the set has been finished, and nothing more is evaluated");
  EXPECT_EQ(num_processes(), 0);
}

TEST_F(OracleSetOfPrograms, TheProgramIsToldNamesAndStates) {
  write_program("", "open('hello.json', 'w').write(json.dumps(hello['factors'][0]['variables'][1]['states']))");
  OracleSet oracles(model(), {});
  static_cast<void>(oracles.graph().log_value(1, std::vector<int>{0, 0}));
  EXPECT_EQ(read_file(in_folder("hello.json")), R"(["low", "mid", "high"])");
}

TEST_F(OracleSetOfPrograms, CostIsTheDeclaredOneOrTheMeasuredMean) {
  write_program("");
  JsonModel described = model();
  {
    OracleSet oracles(described, {});
    EXPECT_EQ(oracles.cost(0), 0.0);
    EXPECT_FALSE(oracles.cost(1).has_value());
    static_cast<void>(oracles.graph().log_value(1, std::vector<int>{0, 0}));
    EXPECT_EQ(oracles.cost(1), oracles.counts()[0].paid_seconds);
  }
  described.factors[1].cost = 0.125;
  EXPECT_EQ(OracleSet(described, {}).cost(1), 0.125);
}

TEST_F(OracleSetOfPrograms, AProgramThatDoesNotExistIsRefusedAtOnce) {
  JsonModel described = model();
  described.programs[0].command = {"no-such-program-here"};
  EXPECT_EQ(message_of(ErrorCode::kIo, [&] { OracleSet(described, {}); }),
            in_folder("model.json").string() +
                ": programs.p.command[0]: no executable file 'no-such-program-here' in PATH (./NAME is one beside the "
                "model)");
  described.programs[0].command = {"./program.py"};
  EXPECT_EQ(message_of(ErrorCode::kIo, [&] { OracleSet(described, {}); }),
            in_folder("model.json").string() +
                ": programs.p.command[0]: no executable file './program.py' in the folder of the model");
}

}  // namespace
}  // namespace treesample
