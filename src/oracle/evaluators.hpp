// Where questions are answered: jobs go in, results come out in any order. The work is done by threads of this process,
// each with its own copy of every function or program (worker_pool.hpp), or by workers on any machine, through a server
// (redis_evaluators.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "treesample/error.hpp"

namespace treesample {

struct Job {
  int factor = 0;
  std::vector<int> states;
  int repeat = 0;  // as in OracleQuestion
};

struct JobResult {
  Job job;
  double log_value = 0.0;
  double seconds = 0.0;             // its share of the successful attempt, or of all of them when it has an error
  int num_failures = 0;             // attempts that failed
  std::optional<Error> error = {};  // when all of them did
  bool is_source_broken = false;    // the error does not concern this job: its source cannot be used at all
  std::optional<std::vector<int>> witness = {};  // as in FactorValue
  std::string worker = {};                       // who evaluated it, for the journal
  bool is_unasked = false;  // paid for by an earlier run that ended before it arrived: only to be recorded
};

// Used by one thread.
class Evaluators {
 public:
  virtual ~Evaluators() = default;
  // Jobs that are evaluated in batches may be held back until a batch is full or until take() waits.
  virtual void push(Job job) = 0;
  // Everything that was finished since the last call; with `wait`, at least one result, or kInterrupted is thrown.
  virtual std::vector<JobResult> take(bool wait) = 0;
  // Tells that all results that have been taken are recorded.
  virtual void confirm() = 0;
  // Drops queued jobs and ends those under way. Finished results can still be taken.
  virtual void stop() = 0;
};

}  // namespace treesample
