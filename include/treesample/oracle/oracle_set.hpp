// Expensive factors: external programs or C++ functions behind one interface that never pays twice.
//
// An evaluation is looked up in memory, then in the journal, then joined to an equal one that is under way, and only
// then paid for: handed to one of the workers, each of which has its own instance of every program. Returned values are
// durably in the journal before anybody sees them; values that arrive together share one transaction.
//
//   OracleSet oracles(read_json_model("model.json"), {.journal = "run.journal", .log = "run.log"});
//   TreeSearchResult result = tree_sample(oracles.graph(), ...);   // factors call the programs
//
// Factors must be pure functions of their states. A program is started at its first evaluation, in a process group of
// its own; the destructor ends all of them (and waits for C++ functions that are running), and the system ends them if
// this process is killed. Faults of a program (crash, no answer in time, nonsense) lead to a restart and a retry, an
// error or an invalid value (NaN, +inf, beyond model/log_value.hpp) to a retry; when max_retries are used up, the
// program's rule (on_failure) says what the evaluation counts as, and without a rule the Error names the assignment. A
// value above the declared maximum is always an error (kArgument: the declaration is wrong). docs/model_file.md has the
// protocol.
//
// Programs of a model file run with the rights of the caller. Making a set allows them to run; the command line asks
// its user first.
//
// One thread at a time may use a set.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "treesample/io/json_model.hpp"
#include "treesample/model/evaluation_queue.hpp"
#include "treesample/remote/redis_options.hpp"
#include "treesample/stop.hpp"

namespace treesample {

struct OracleOptions {
  int num_workers = 1;
  std::filesystem::path journal = {};  // empty: values are kept in memory only
  std::filesystem::path log = {};      // receives the standard error of programs; empty: its last line is for messages
  // Repeat evaluations that are recorded as failed, instead of counting them as their program's rule says.
  bool retry_failed = false;
  // Continue a journal although tables of the model changed: recorded values do not depend on them.
  bool allow_changed_tables = false;
  // For C++ functions, by factor: what an evaluation counts as that throws or returns an invalid value. Without a rule
  // the search stops. A value is at most the factor's log_max, from which bounds are made.
  std::map<int, FailureRule> on_failure = {};
  // What messages call them, instead of "factor 3"; a journal does not depend on it.
  std::map<int, std::string> names = {};
  // The share that may fail; without an entry it is kMaxFailureShare.
  std::map<int, double> max_failure_share = {};
  // Workers on any machine (oracle/question_worker.hpp) answer through this server, instead of programs here; for
  // models from files. num_workers is then the largest number of questions under way.
  std::optional<RedisOptions> redis = {};
  // After this many seconds without a sign of life from a worker its question goes to another.
  double question_lease_seconds = 10.0;
  // Told what is waited for and what was refused or repaired, by the thread that waits for answers.
  std::function<void(const std::string&)> remark = {};
  // Asked several times a second while an answer is waited for; true ends the wait with kInterrupted.
  std::function<bool()> is_interrupted = {};

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

// Where the evaluations of one factor came from, and how long they took.
struct OracleCounts {
  int factor = 0;                 // index in the model
  std::string name;               // in journals
  std::string label = {};         // in messages: the name, or that of OracleOptions::names
  std::int64_t paid = 0;          // by a worker in this run
  std::int64_t from_journal = 0;  // paid by an earlier run
  std::int64_t repeated = 0;      // had been answered, or asked for, before in this run
  std::int64_t failures = 0;      // attempts that were retried or given up
  // Evaluations given up in this run, and in an earlier one. They have the value that on_failure gives.
  std::int64_t failed = 0;
  std::int64_t failed_from_journal = 0;
  FailureRule on_failure = {};
  double paid_seconds = 0.0;
  double journal_seconds = 0.0;  // that values from the journal took when they were paid for
};

// One evaluation, as it was answered for the first time.
struct OracleCall {
  int factor = 0;                   // index in the model
  std::vector<int> states;          // of its scope
  std::optional<double> log_value;  // that it counts as; none where its failure ended the run
  double seconds = 0.0;             // of the evaluation, in an earlier run where it is from the journal
  bool is_from_journal = false;
  std::string failure = {};  // empty where it did not fail
};

class OracleSet final : public EvaluationQueue {
 public:
  static constexpr int kMaxWorkers = 1024;

  // Opens the journal. Throws kIo for a program that does not exist and for a file that is in use or damaged, kParse
  // for one that is no journal, kArgument for a journal of another model.
  OracleSet(const JsonModel& model, const OracleOptions& options);
  // The functions of a C++ model, named "factor 0", "factor 1", ... With several workers they are called from several
  // threads. The journal cannot tell when code changes: `version` is any text that changes whenever the functions do.
  OracleSet(const FactorGraph& graph, const std::string& version, const OracleOptions& options);
  ~OracleSet() override;
  OracleSet(const OracleSet&) = delete;
  OracleSet& operator=(const OracleSet&) = delete;

  // The model. Its function factors ask this set and wait for the answer, and the set is its evaluation
  // queue; it must outlive the graph and its copies. Factors have the indices of the description.
  [[nodiscard]] const FactorGraph& graph() const;

  [[nodiscard]] bool answers(int factor) const override;
  [[nodiscard]] int num_workers() const override;
  [[nodiscard]] int max_under_way() const override;
  [[nodiscard]] int num_pending() const override;
  [[nodiscard]] std::int64_t num_left() const override;
  [[nodiscard]] std::int64_t num_answered() const override;
  // Workers elsewhere answer each question once.
  [[nodiscard]] bool can_repeat() const override;
  // Of the journal, or of this set where there is none. A failure is a value where its program's rule makes it one.
  // Throws kArgument for a recorded value above the declared maximum.
  [[nodiscard]] std::vector<KnownValue> known_values() const override;
  [[nodiscard]] std::vector<Lesson> lessons(const std::string& run) const override;
  void add_lesson(const std::string& run, const Lesson& lesson) override;
  Ticket submit(std::vector<OracleQuestion> questions) override;
  std::vector<OracleAnswer> wait_any() override;
  OracleAnswer wait(Ticket ticket) override;

  // Replaces OracleOptions::is_interrupted and returns the previous one. Must not be called during a wait.
  ShouldStop set_should_stop(ShouldStop should_stop);
  // The same for OracleOptions::remark.
  std::function<void(const std::string&)> set_remark(std::function<void(const std::string&)> remark);

  // Limits the evaluations from now on that neither memory nor the journal knows; kUnlimited: any number. The set only
  // counts them; the caller must keep to num_left().
  void set_most_new(std::int64_t count);

  // Ends evaluations under way and records finished ones, so that counts() and the journal agree; nothing is evaluated
  // afterwards. Throws kIo when that cannot be recorded. The destructor does the same silently.
  void finish();

  // One entry per factor that is not a table, in the order of the model.
  [[nodiscard]] std::vector<OracleCounts> counts() const;
  // All evaluations, by this run and from the journal, in the order of their answers.
  [[nodiscard]] const std::vector<OracleCall>& calls() const;
  // Seconds of one evaluation: 0 for a table, otherwise as declared, otherwise the mean so far, including recorded
  // evaluations; nothing when there are none.
  [[nodiscard]] std::optional<double> cost(int factor) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace treesample
