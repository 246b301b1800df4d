// Programs that crash, hang or talk nonsense, and what is left of them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "support/oracle_programs.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/oracle/oracle_set.hpp"

namespace treesample {
namespace {

using testing::message_of;

class ProgramFaults : public testing::OracleFolder {
 protected:
  // The error of evaluating f at a=1, b=mid, after which nothing may be left.
  std::string error(const std::string& fields, ErrorCode code = ErrorCode::kIo) {
    std::string message;
    {
      OracleSet oracles(model(fields), {.log = in_folder("programs.log")});
      message = message_of(code, [&] { static_cast<void>(oracles.graph().log_value(1, std::vector<int>{1, 1})); });
      failures_ = oracles.counts()[0].failures;
      EXPECT_EQ(oracles.counts()[0].paid, 0);
    }
    EXPECT_TRUE(wait_for_processes(0));  // a killed grandchild takes a moment to be gone
    EXPECT_TRUE(has_no_children());
    return message;
  }
  // Evaluates f at a=1, b=mid with a program that does `fault` the first `times` times.
  void expect_recovery(const std::string& fault, int times = 1, const std::string& fields = "") {
    write_program(fmt::format("if len(open('paid.txt').readlines()) <= {}:\n    {}", times, fault));
    OracleSet oracles(model(fields), {});
    EXPECT_EQ(oracles.graph().log_value(1, std::vector<int>{1, 1}), value(1, 1));
    EXPECT_EQ(oracles.counts()[0].failures, times);
    EXPECT_EQ(oracles.counts()[0].paid, 1);
    EXPECT_EQ(num_paid(), times + 1);
    EXPECT_EQ(num_processes(), 1);
  }
  std::int64_t failures_ = 0;
};

constexpr const char* kSubject = "program 'p': factor 'f' at a=1, b=mid failed";

TEST_F(ProgramFaults, CrashesAreRetriedThenReportedWithTheAssignmentAndTheLog) {
  write_program("sys.exit('no such licence')");
  EXPECT_EQ(
      error("\"max_retries\": 2"),
      std::string(kSubject) + " 3 times, the last time: it exited with status 1 (end of its log: no such licence)");
  EXPECT_EQ(failures_, 3);
  EXPECT_EQ(num_paid(), 3);
  EXPECT_EQ(read_file(in_folder("programs.log")), "no such licence\nno such licence\nno such licence\n");
}

// Without a log the end of it is kept, however much it is.
TEST_F(ProgramFaults, WithoutALogTheLastLineIsReportedToo) {
  for (const char* const before :
       {"", "sys.stderr.write('x' * 79 + '\\n') or [sys.stderr.write('y' * 99 + '\\n') for i in range(20000)]; "}) {
    write_program(std::string(before) + "sys.exit('no such licence')");
    OracleSet oracles(model("\"max_retries\": 0"), {});
    EXPECT_EQ(message_of(ErrorCode::kIo,
                         [&] {
                           oracles.graph().log_value(1, std::vector<int>{1, 1});
                         }),
              std::string(kSubject) + ": it exited with status 1 (end of its log: no such licence)");
  }
}

// Nobody reads while nothing is asked for, so the program must be able to go on.
TEST_F(ProgramFaults, AProgramThatWritesMuchToItsStandardErrorWorksWithoutALog) {
  write_program("sys.stderr.write('z' * 300000)");
  OracleSet oracles(model(""), {});
  for (int b = 0; b < 3; ++b) EXPECT_EQ(oracles.graph().log_value(1, std::vector<int>{1, b}), value(1, b));
}

TEST_F(ProgramFaults, ASignalThatEndedTheProgramIsNamed) {
  write_program("os.kill(os.getpid(), signal.SIGSEGV)");
  EXPECT_EQ(error("\"max_retries\": 0"), std::string(kSubject) + ": it was ended by signal 11 (Segmentation fault)");
}

TEST_F(ProgramFaults, AProgramThatDiesBeforeItIsReady) {
  write_program("", "sys.exit(3)");
  EXPECT_EQ(error("\"max_retries\": 1"), std::string(kSubject) + " 2 times, the last time: it exited with status 3");
}

TEST_F(ProgramFaults, AHangIsEndedAfterTheTimeout) {
  write_program("time.sleep(1000)");
  EXPECT_EQ(error("\"max_retries\": 0, \"timeout_seconds\": 0.05"),
            std::string(kSubject) + ": no answer within 0.05 s (each line must be flushed)");
}

TEST_F(ProgramFaults, AHangAtTheStartIsEndedAfterItsTimeout) {
  write_program("", "time.sleep(1000)");
  EXPECT_EQ(error("\"max_retries\": 0, \"start_timeout_seconds\": 0.05"),
            std::string(kSubject) + ": no answer within 0.05 s (each line must be flushed)");
}

TEST_F(ProgramFaults, AProgramThatIgnoresSigtermIsKilledWithItsChildren) {
  write_program("os.system('sleep 1000')", "signal.signal(signal.SIGTERM, signal.SIG_IGN)");
  EXPECT_NE(error("\"max_retries\": 0, \"timeout_seconds\": 0.5").find("no answer within 0.5 s"), std::string::npos);
}

TEST_F(ProgramFaults, GarbageIsShown) {
  write_program("answer = 'Loading weights ...'");
  EXPECT_EQ(error("\"max_retries\": 0"), std::string(kSubject) + ": no JSON in its line 'Loading weights ...'");
}

TEST_F(ProgramFaults, NanAndInfinityAreNumericErrors) {
  write_program("answer['log_values'] = [float('nan')]");
  EXPECT_EQ(error("\"max_retries\": 0", ErrorCode::kNumeric),
            std::string(kSubject) + ": a log-value of nan, allowed are -inf and numbers from -1e+300 to 17000000");
  write_program("answer['log_values'] = [float('inf')]");
  EXPECT_EQ(error("\"max_retries\": 0", ErrorCode::kNumeric),
            std::string(kSubject) + ": a log-value of inf, allowed are -inf and numbers from -1e+300 to 17000000");
  write_program("answer['log_values'] = [1e308]");
  EXPECT_EQ(error("\"max_retries\": 0", ErrorCode::kNumeric),
            std::string(kSubject) + ": a log-value of 1e+308, allowed are -inf and numbers from -1e+300 to 17000000");
}

TEST_F(ProgramFaults, TheProgramsOwnErrorIsPassedOnAndItKeepsRunning) {
  write_program("if states == [1, 1]:\n    answer = {'id': request['id'], 'error': 'does not converge'}");
  EXPECT_EQ(error("\"max_retries\": 1"), std::string(kSubject) + " 2 times, the last time: it says: does not converge");
  write_program("if n < 1:\n    answer = {'id': request['id'], 'error': 'x'}");  // n > 0 only in the same process
  OracleSet oracles(model(), {});
  EXPECT_EQ(oracles.graph().log_value(1, std::vector<int>{0, 0}), value(0, 0));
}

TEST_F(ProgramFaults, RecoversFromACrash) { expect_recovery("os._exit(1)", 2); }
TEST_F(ProgramFaults, RecoversFromAHang) { expect_recovery("time.sleep(1000)", 1, "\"timeout_seconds\": 0.5"); }
TEST_F(ProgramFaults, RecoversFromGarbage) { expect_recovery("answer = '{'"); }
TEST_F(ProgramFaults, RecoversFromANan) { expect_recovery("answer['log_values'] = [float('nan')]"); }
TEST_F(ProgramFaults, RecoversFromAnAnswerToAnotherQuestion) { expect_recovery("answer['id'] += 1"); }
TEST_F(ProgramFaults, RecoversFromMissingValues) { expect_recovery("answer['log_values'] = []"); }
TEST_F(ProgramFaults, RecoversFromAClosedOutput) { expect_recovery("os.close(1); time.sleep(1000)"); }

// What a program says too much must not be taken for its next answer.
TEST_F(ProgramFaults, ASecondAnswerIsNotTakenForTheNext) {
  write_program("say({'id': request['id'], 'log_values': [-99]}) if n == 0 and states == [0, 0] else None");
  OracleSet oracles(model(), {});
  EXPECT_EQ(oracles.graph().log_value(1, std::vector<int>{0, 0}), -99);
  EXPECT_EQ(oracles.graph().log_value(1, std::vector<int>{1, 2}), value(1, 2));
  EXPECT_EQ(oracles.counts()[0].failures, 1);
}

TEST_F(ProgramFaults, InABatchOnlyTheCulpritFails) {
  write_program("if [1, 1] in request['assignments']:\n    os._exit(1)");
  OracleSet oracles(model("\"max_batch\": 6, \"max_retries\": 0"), {.journal = in_folder("run.journal")});
  std::vector<Ticket> tickets;
  for (int i = 0; i < 6; ++i) tickets.push_back(oracles.submit({{1, {i / 3, i % 3}}}));
  for (int i = 0; i < 6; ++i) {
    if (i == 4) {
      const std::string message = message_of(ErrorCode::kIo, [&] { oracles.wait(tickets[i]); });
      EXPECT_EQ(message, std::string(kSubject) + ": it exited with status 1");
    } else {
      EXPECT_EQ(oracles.wait(tickets[i]).log_values[0], value(i / 3, i % 3));
    }
  }
}

TEST_F(ProgramFaults, EndingTheSetInterruptsWhatIsRunning) {
  write_program("time.sleep(1000)");
  {
    OracleSet oracles(model(), {.num_workers = 2});
    for (int b = 0; b < 3; ++b) oracles.submit({{1, {0, b}}});  // two run, one is queued
    ASSERT_TRUE(wait_until([&] { return num_paid() == 2; }));
  }
  EXPECT_TRUE(wait_for_processes(0));
  EXPECT_TRUE(has_no_children());
}

TEST_F(ProgramFaults, AnExceptionThatEndsTheCallerLeavesNothing) {
  write_program("");
  try {
    OracleSet oracles(model(), {});
    static_cast<void>(oracles.graph().log_value(1, std::vector<int>{0, 0}));
    throw std::runtime_error("caller");
  } catch (const std::runtime_error&) {
  }
  EXPECT_TRUE(wait_for_processes(0));
  EXPECT_TRUE(has_no_children());
}

// Ctrl-C and SIGTERM without a handler, and SIGKILL, end a process without its destructors.
class KilledParent : public ProgramFaults, public ::testing::WithParamInterface<int> {};

TEST_P(KilledParent, LeavesNoProgramBehind) {
  write_program("time.sleep(1000)");
  const JsonModel described = model();
  const pid_t driver = ::fork();
  ASSERT_GE(driver, 0);
  if (driver == 0) {
    static_cast<void>(::signal(GetParam(), SIG_DFL));  // a shell's background jobs ignore Ctrl-C
    OracleSet oracles(described, {.num_workers = 2});
    oracles.submit({{1, {0, 0}}, {1, {0, 1}}});
    oracles.wait_any();
    ::_exit(0);
  }
  EXPECT_TRUE(wait_until([&] { return num_paid() == 2; }));
  EXPECT_EQ(num_processes(), 2);
  ::kill(driver, GetParam());
  int status = 0;
  ::waitpid(driver, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(wait_for_processes(0));
}

INSTANTIATE_TEST_SUITE_P(Signals, KilledParent, ::testing::Values(SIGKILL, SIGTERM, SIGINT));

}  // namespace
}  // namespace treesample
