// A model with factors that cost: programs, or functions that are asked through a queue, and what their evaluations
// cost. The library treesample-calls has the one that runs programs (oracle/oracle_set.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "treesample/io/json_model.hpp"
#include "treesample/model/evaluation_queue.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/stop.hpp"

namespace treesample {

// Where the evaluations of one factor came from, and how long they took.
struct OracleCounts {
  int factor = 0;                 // index in the model
  std::string name;               // in journals
  std::string label = {};         // in messages: the name, or the one in OracleOptions::names
  std::int64_t paid = 0;          // by a worker in this run
  std::int64_t from_journal = 0;  // paid for by an earlier run
  std::int64_t repeated = 0;      // questions that were already answered or submitted in this run
  std::int64_t failures = 0;      // attempts that were retried or given up on
  // Evaluations that were given up on in this run or an earlier one. They have the value that on_failure gives.
  std::int64_t failed = 0;
  std::int64_t failed_from_journal = 0;
  FailureRule on_failure = {};
  double paid_seconds = 0.0;
  double journal_seconds = 0.0;  // time that the values from the journal took when they were paid for
};

// One evaluation, as it was first answered.
struct OracleCall {
  int factor = 0;                   // index in the model
  std::vector<int> states;          // of its scope
  std::optional<double> log_value;  // the value that it has; none if its failure ended the run
  double seconds = 0.0;             // time of the evaluation; if it is from the journal, in the earlier run
  bool is_from_journal = false;
  std::string failure = {};  // empty if it did not fail
};

class ProgramSet : public EvaluationQueue {
 public:
  static constexpr int kMaxWorkers = 1024;

  // The model. Its function factors ask this set, which must outlive the graph and its copies.
  [[nodiscard]] virtual const FactorGraph& graph() const = 0;

  // Replaces what is asked several times a second during a wait, and returns the previous one; true ends the wait with
  // kInterrupted. Must not be called during a wait.
  virtual ShouldStop set_should_stop(ShouldStop should_stop) = 0;
  // Replaces what is called with what the run is waiting for, and with what was refused or repaired, and returns the
  // previous one.
  virtual std::function<void(const std::string&)> set_remark(std::function<void(const std::string&)> remark) = 0;
  // From now on limits the evaluations that are in neither memory nor the journal; kUnlimited allows any number. The
  // set only counts them; the caller must respect num_left().
  virtual void set_most_new(std::int64_t count) = 0;

  // Ends evaluations under way and records finished ones, so that counts() and the journal agree. Nothing is evaluated
  // afterwards. Throws kIo if the results cannot be recorded.
  virtual void finish() = 0;

  // One entry per factor that is not a table, in the order of the model.
  [[nodiscard]] virtual std::vector<OracleCounts> counts() const = 0;
  // All evaluations, made by this run or read from the journal, in the order of their answers.
  [[nodiscard]] virtual const std::vector<OracleCall>& calls() const = 0;
  // Seconds of one evaluation: 0 for a table; otherwise the declared time; otherwise the mean so far, including
  // recorded evaluations. None if there are none.
  [[nodiscard]] virtual std::optional<double> cost(int factor) const = 0;
};

}  // namespace treesample
