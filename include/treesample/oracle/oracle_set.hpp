// Expensive factors: external programs or C++ functions behind one interface that never pays twice.
//
// An evaluation is looked up in memory, then in the journal, then joined to an equal one that is under way, and only
// then paid for: handed to one of the workers, each of which has its own instance of every program. A value is stored
// durably in the journal before it is returned; values that arrive together share one transaction.
//
//   OracleSet oracles(read_json_model("model.json"), {.journal = "run.journal", .log = "run.log"});
//   TreeSearchResult result = tree_sample(oracles.graph(), ...);   // factors call the programs
//
// Factors must be pure functions of their states. A program is started at its first evaluation, in a process group of
// its own; the destructor ends all of them (and waits for C++ functions that are running), and the system ends them if
// this process is killed. Faults of a program (crash, no answer in time, nonsense) lead to a restart and a retry, an
// error or an invalid value (NaN, +inf, beyond model/log_value.hpp) only to a retry. When max_retries are used up, the
// program's rule (on_failure) decides the value of the evaluation; without a rule, an Error is thrown that names the
// assignment. A value above the declared maximum is always an error (kArgument: the declaration is wrong).
// docs/model_file.md has the protocol.
//
// Programs of a model file run with the rights of the caller. Constructing a set allows them to run; the command line
// asks its user first.
//
// Only one thread at a time may use a set.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "treesample/executor.hpp"
#include "treesample/io/json_model.hpp"
#include "treesample/io/program_set.hpp"
#include "treesample/remote/redis_options.hpp"
#include "treesample/stop.hpp"

namespace treesample {

struct OracleOptions {
  int num_workers = 1;
  std::filesystem::path journal = {};  // empty: values are kept in memory only
  std::filesystem::path log = {};      // receives the standard error of programs; if empty, only messages quote it
  // If true, evaluations that are recorded as failed are repeated. Otherwise they get the value that their program's
  // rule gives.
  bool retry_failed = false;
  // Allows a journal to be continued although tables of the model have changed; recorded values do not depend on them.
  bool allow_changed_tables = false;
  // For C++ functions, by factor: the rule for an evaluation that throws or returns an invalid value. Without a rule
  // the search stops. The rule's value must not exceed the factor's log_max, from which bounds are made.
  std::map<int, FailureRule> on_failure = {};
  // Of a C++ model, the factors that a UM-Bridge server computes instead of their functions; each worker has a
  // connection of its own. Their rules for failures are on_failure and max_failure_share here.
  std::map<int, ProgramDescription> servers = {};
  // Names of functions in messages, instead of "factor 3"; a journal does not depend on them.
  std::map<int, std::string> names = {};
  // The share of evaluations that may fail; kMaxFailureShare for a factor without an entry.
  std::map<int, double> max_failure_share = {};
  // If set, workers on any machine (oracle/question_worker.hpp) answer through this server, and no programs run here.
  // Only for models from files. num_workers is then the largest number of questions under way.
  std::optional<RedisOptions> redis = {};
  // After this many seconds without a sign of life from its worker, a question goes to another worker.
  double question_lease_seconds = 10.0;
  // If set, it makes all calls of functions, as tasks of the kind "call" (oracle/executor_evaluators.hpp). num_workers
  // is then the largest number of calls under way; 0: as many as the executor has workers, never fewer than at the
  // beginning.
  std::shared_ptr<Executor> executor = {};
  // Called with what the run is waiting for, and with what was refused or repaired, on the thread that waits for
  // answers.
  std::function<void(const std::string&)> remark = {};
  // Called several times a second while waiting for an answer; returning true ends the wait with kInterrupted.
  std::function<bool()> is_interrupted = {};

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

class OracleSet final : public ProgramSet {
 public:
  // Opens the journal. Throws kIo for a program that does not exist and for a journal that is in use or damaged, kParse
  // for a file that is no journal, kArgument for a journal of another model.
  OracleSet(const JsonModel& model, const OracleOptions& options);
  // The functions of a C++ model, named "factor 0", "factor 1", ... With several workers they are called from several
  // threads. The journal cannot tell when code changes: `version` is any text that changes whenever the functions do.
  OracleSet(const FactorGraph& graph, const std::string& version, const OracleOptions& options);
  ~OracleSet() override;
  OracleSet(const OracleSet&) = delete;
  OracleSet& operator=(const OracleSet&) = delete;

  // The model. Its function factors ask this set and wait for the answer, and the set is its evaluation queue, so it
  // must outlive the graph and its copies. Factors have the indices of the description.
  [[nodiscard]] const FactorGraph& graph() const override;

  [[nodiscard]] bool answers(int factor) const override;
  [[nodiscard]] int num_workers() const override;
  [[nodiscard]] int max_under_way() const override;
  [[nodiscard]] int num_pending() const override;
  [[nodiscard]] std::int64_t num_left() const override;
  [[nodiscard]] std::int64_t num_answered() const override;
  // False for workers on other machines, because they answer each question once.
  [[nodiscard]] bool can_repeat() const override;
  // The values of the journal or, without one, those of this set. A failure is a value if its program's rule makes it
  // one. Throws kArgument for a recorded value above the declared maximum.
  [[nodiscard]] std::vector<KnownValue> known_values() const override;
  [[nodiscard]] std::vector<Lesson> lessons(const std::string& run) const override;
  void add_lesson(const std::string& run, const Lesson& lesson) override;
  Ticket submit(std::vector<OracleQuestion> questions) override;
  std::vector<OracleAnswer> wait_any() override;
  OracleAnswer wait(Ticket ticket) override;

  // The first one is OracleOptions::is_interrupted.
  ShouldStop set_should_stop(ShouldStop should_stop) override;
  // The first one is OracleOptions::remark.
  std::function<void(const std::string&)> set_remark(std::function<void(const std::string&)> remark) override;
  void set_most_new(std::int64_t count) override;
  // The destructor does the same silently.
  void finish() override;
  [[nodiscard]] std::vector<OracleCounts> counts() const override;
  [[nodiscard]] const std::vector<OracleCall>& calls() const override;
  [[nodiscard]] std::optional<double> cost(int factor) const override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace treesample
