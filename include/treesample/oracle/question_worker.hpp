// Workers on any machine take the questions of a run from a Redis server, let the model's programs answer them, and
// send the answers to the coordinator (OracleOptions::redis), which alone keeps the journal.
//
// Workers may join, leave or be killed at any time. A worker sends signs of life while it evaluates; without them its
// question goes to another worker. A worker keeps an answer until the coordinator has recorded it, and sends it again
// if the server was away. docs/distributed.md has the details.
#pragma once

#include <cstdint>
#include <filesystem>

#include "treesample/io/json_model.hpp"
#include "treesample/remote/redis_options.hpp"

namespace treesample {

struct QuestionWorkerOptions {
  RedisOptions redis = {};
  int num_workers = 1;             // copies of each program
  std::filesystem::path log = {};  // receives the standard error of programs; discarded if empty
  // If true, the worker waits for the next coordinator of the same run name when the run has ended, for as long as the
  // patience lasts.
  bool stays = false;
  // If true, the worker works even if commands or files of its programs differ from the coordinator's: the caller
  // vouches that they compute the same values.
  bool allow_other_programs = false;

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

struct QuestionWorkerReport {
  std::int64_t num_evaluations = 0;
  std::int64_t num_failed = 0;      // answers that are failures
  std::int64_t num_reconnects = 0;  // reconnections to the server
  bool is_run_finished = false;     // false if keep_going ended it
};

// Answers questions until the coordinator ends the run or keep_going returns false. Callbacks may be called from
// several threads, one at a time. Throws kIo if the server cannot be reached for as long as the patience lasts, refuses
// the login or is too old; if there is no coordinator for as long; if a program cannot be used at all; and if the
// coordinator's model is another one, naming the difference.
QuestionWorkerReport answer_questions(const JsonModel& model, const QuestionWorkerOptions& options,
                                      const RunCallbacks& callbacks = {});

}  // namespace treesample
