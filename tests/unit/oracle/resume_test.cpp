// Runs that are killed at any moment and taken up again.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <random>

#include "support/oracle_programs.hpp"
#include "treesample/oracle/journal.hpp"
#include "treesample/oracle/oracle_set.hpp"

namespace treesample {
namespace {

constexpr int kVariables = 3;
constexpr int kStates = 4;
constexpr int kAssignments = 64;
constexpr int kKills = 12;

std::vector<int> assignment(int i) { return {i / 16, i / 4 % 4, i % 4}; }

class KilledRun : public testing::OracleFolder, public ::testing::WithParamInterface<int> {
 protected:
  [[nodiscard]] JsonModel large_model() const {
    std::string variables;
    std::string scope;
    for (int v = 0; v < kVariables; ++v) {
      variables += fmt::format("{}{{\"name\": \"x{}\", \"states\": {}}}", v == 0 ? "" : ", ", v, kStates);
      scope += fmt::format("{}\"x{}\"", v == 0 ? "" : ", ", v);
    }
    const std::string text = fmt::format(
        R"({{"variables": [{}], "programs": {{"p": {{"command": ["{}", "-S", "program.py"]}}}},
            "factors": [{{"name": "f", "scope": [{}], "program": "p"}}]}})",
        variables, testing::python(), scope);
    write_file_atomically(in_folder("model.json"), text);
    return read_json_model(in_folder("model.json"));
  }

  // Evaluates everything, up to `num_workers` at a time, applied in order; writes the values' bits.
  void drive(const JsonModel& described, int num_workers) const {
    OracleSet oracles(described, {.num_workers = num_workers, .journal = in_folder("run.journal")});
    std::vector<double> values;
    Ticket next = 0;
    for (int i = 0; i < kAssignments; ++i) {
      while (next < kAssignments && next < i + num_workers) {
        oracles.submit({{0, assignment(static_cast<int>(next))}});
        ++next;
      }
      values.push_back(oracles.wait(i).log_values[0]);
    }
    const auto* const bytes = reinterpret_cast<const char*>(values.data());
    write_file_atomically(in_folder("values"), std::string(bytes, values.size() * sizeof(double)));
  }

  [[nodiscard]] pid_t start(const JsonModel& described, int num_workers) const {
    const pid_t driver = ::fork();
    if (driver == 0) {
      try {
        drive(described, num_workers);
      } catch (const std::exception& error) {
        write_file_atomically(in_folder("error"), error.what());
        ::_exit(1);
      }
      ::_exit(0);
    }
    return driver;
  }
};

TEST_P(KilledRun, ContinuesToTheSameBitsAndPaysTwiceOnlyForWhatWasInFlight) {
  const int num_workers = GetParam();
  // pi is not a nice number in any base; the pause leaves room for a kill during the evaluation.
  write_program(
      "time.sleep(0.001)\nanswer['log_values'] = [-3.14159265358979 * (1 + states[0]) / (7 + states[1] + 5 * "
      "states[2])]");
  const JsonModel described = large_model();
  std::mt19937 random(static_cast<unsigned>(num_workers));
  int num_kills = 0;
  for (int kill = 1; kill <= kKills; ++kill) {
    const int progress = num_paid() + static_cast<int>(random() % (kAssignments / kKills)) + 1;
    const pid_t driver = start(described, num_workers);
    ASSERT_GT(driver, 0);
    int status = 0;
    pid_t ended = 0;
    ASSERT_TRUE(wait_until([&] {
      ended = ::waitpid(driver, &status, WNOHANG);
      return ended == driver || num_paid() >= progress;
    }));
    ::usleep(random() % 3000);
    if (ended == 0) {
      ::kill(driver, SIGKILL);
      ::waitpid(driver, &status, 0);
    }
    if (WIFSIGNALED(status)) ++num_kills;
    ASSERT_TRUE(wait_for_processes(0));
    ASSERT_FALSE(std::filesystem::exists(in_folder("error"))) << read_file(in_folder("error"));
  }
  int status = 0;
  ::waitpid(start(described, num_workers), &status, 0);
  ASSERT_EQ(status, 0);
  EXPECT_GT(num_kills, 0);
  EXPECT_GE(num_paid(), kAssignments);
  EXPECT_LE(num_paid(), kAssignments + num_kills * num_workers);
  const std::string bytes = read_file(in_folder("values"));
  ASSERT_EQ(bytes.size(), kAssignments * sizeof(double));
  for (int i = 0; i < kAssignments; ++i) {
    const std::vector<int> x = assignment(i);
    double value = 0.0;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    EXPECT_EQ(value, -3.14159265358979 * (1 + x[0]) / (7 + x[1] + 5 * x[2]));
  }
  EXPECT_EQ(journal_summary(in_folder("run.journal")).factors[0].num_evaluations, kAssignments);
}

INSTANTIATE_TEST_SUITE_P(Workers, KilledRun, ::testing::Values(1, 3));

TEST_F(KilledRun, AJournalInUseByAnotherProcessIsRefused) {
  write_program("");
  const JsonModel described = model();
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t holder = ::fork();
  if (holder == 0) {
    const OracleSet oracles(described, {.journal = in_folder("run.journal")});
    [[maybe_unused]] const ssize_t written = ::write(ready[1], "x", 1);
    ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(testing::message_of(ErrorCode::kIo, [&] { OracleSet(described, {.journal = in_folder("run.journal")}); }),
            in_folder("run.journal").string() + ": the journal is in use by another run");
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  EXPECT_EQ(OracleSet(described, {.journal = in_folder("run.journal")}).num_pending(), 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

}  // namespace
}  // namespace treesample
