// Where questions are answered: jobs go in, results come out in any order. Threads of this process do it, each with its
// own copy of every function or program (worker_pool.hpp), or workers anywhere, by way of a server
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
};

struct JobResult {
  Job job;
  double log_value = 0.0;
  double seconds = 0.0;             // its share of the successful attempt, or of all of them when it has an error
  int num_failures = 0;             // attempts that failed
  std::optional<Error> error = {};  // when all of them did
  bool is_source_broken = false;    // the error is not of this job: its source cannot be used at all
  std::optional<std::vector<int>> witness = {};  // as in FactorValue
  std::string worker = {};                       // who evaluated it, for the journal
  bool is_unasked = false;  // paid for by an earlier run that did not live to see it: to be recorded, no more
};

// Used by one thread.
class Evaluators {
 public:
  virtual ~Evaluators() = default;
  // What is evaluated in batches may be held back until one is full or until take() waits.
  virtual void push(Job job) = 0;
  // Everything that has been finished since the last call; with `wait`, at least one, or kInterrupted is
  // thrown.
  virtual std::vector<JobResult> take(bool wait) = 0;
  // All results that have been taken are safe.
  virtual void confirm() = 0;
  // Drops what is queued and ends what is under way. What has been finished can still be taken.
  virtual void stop() = 0;
};

}  // namespace treesample
