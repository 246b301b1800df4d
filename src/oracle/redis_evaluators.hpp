// The coordinator's side of workers anywhere (redis_messages.hpp): questions go into a stream of a Redis server,
// answers come out of another.
//
// A thread of its own adds questions, renews the lease of the run, puts right what was lost on the server and deletes
// answers that are safe; another one reads answers. So a search that takes long between two questions keeps its run.
// What cannot be verified, is of another model or comes twice is counted, remarked on and not used. Answers to
// questions that nobody of this run has asked, left by a coordinator that was killed, are handed out once, to be
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
  int num_workers = 1;          // batches that are under way at most
  double lease_seconds = 10.0;  // of a question
  bool has_journal = false;     // are answers that nobody has asked for wanted?
  std::function<bool()> is_interrupted = {};
  std::function<void(const std::string&)> remark = {};
};

// Connects and takes the lease. Throws kIo when the server cannot be reached, refuses the login or is too old, or when
// another process has the run. `model` must outlive it.
std::unique_ptr<Evaluators> make_redis_evaluators(const OracleModel& model, RedisEvaluatorSettings settings);

}  // namespace treesample
