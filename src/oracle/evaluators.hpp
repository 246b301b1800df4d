// The interface behind which questions are answered: jobs go in, and results come out in any order. The work is done by
// threads of this process, each with its own copy of every function or program (worker_pool.hpp), or by workers on any
// machine, through a server (redis_evaluators.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "treesample/error.hpp"

namespace treesample {

struct Job {
  int factor = 0;
  std::vector<int> states;
};

struct JobResult {
  Job job;
  double log_value = 0.0;
  double seconds = 0.0;             // its share of the successful attempt's time, or that of all attempts if it failed
  int num_failures = 0;             // attempts that failed
  std::optional<Error> error = {};  // set if all of them failed
  bool is_source_broken = false;    // true if the error means that its source cannot be used at all
  std::optional<std::vector<int>> witness = {};  // as in FactorValue
  std::string worker = {};                       // the worker that evaluated it, for the journal
  bool is_unasked = false;  // true if a run that ended before it arrived has paid for it: only to be recorded
};

// May be used by one thread only.
class Evaluators {
 public:
  virtual ~Evaluators() = default;
  // Jobs that are evaluated in batches may be held back until a batch is full or until take() waits.
  virtual void push(Job job) = 0;
  // Returns everything that was finished since the last call. With `wait`, returns at least one result or throws
  // kInterrupted.
  virtual std::vector<JobResult> take(bool wait) = 0;
  // Tells the evaluators that all results that were taken are now recorded.
  virtual void confirm() = 0;
  // Drops queued jobs and ends those under way. Finished results can still be taken.
  virtual void stop() = 0;
};

}  // namespace treesample
