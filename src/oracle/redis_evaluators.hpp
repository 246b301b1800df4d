// The coordinator's side of workers on any machine (redis_messages.hpp): questions go into one stream of a Redis
// server, and answers come out of another.
//
// One thread adds questions, renews the lease of the run, restores what was lost on the server and deletes answers that
// are recorded; another one reads answers. So the lease is kept even if the search takes long between two questions.
// Answers that cannot be verified, belong to another model or come twice are counted, reported and not used. A
// coordinator that was killed may leave answers to questions that this run has not asked; they are returned once, to be
// recorded.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "oracle/evaluators.hpp"
#include "oracle/oracle_model.hpp"
#include "treesample/remote/redis_options.hpp"

namespace treesample {

struct RedisEvaluatorSettings {
  RedisOptions redis;
  int num_workers = 1;          // the largest number of batches under way
  double lease_seconds = 10.0;  // lease of a question
  bool has_journal = false;     // true if answers that nobody has asked for are wanted too
  std::function<bool()> is_interrupted = {};
  std::function<void(const std::string&)> remark = {};
};

// Connects and takes the lease. Throws kIo if the server cannot be reached, refuses the login or is too old, or if
// another process has the run. `model` must outlive the result.
std::unique_ptr<Evaluators> make_redis_evaluators(const OracleModel& model, RedisEvaluatorSettings settings);

}  // namespace treesample
