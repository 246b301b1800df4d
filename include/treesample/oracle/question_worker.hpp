// Workers anywhere: they take questions of a run from a Redis server, let the model's programs answer them here, and
// send the answers to the coordinator (OracleOptions::redis), which alone keeps the journal.
//
// Workers may join, leave or be killed at any time. While it evaluates a worker shows signs of life; a question whose
// worker shows none goes to another. An answer is kept by its worker until the coordinator has recorded it, and sent
// again when the server was away. docs/distributed.md has the whole story.
#pragma once

#include <cstdint>
#include <filesystem>

#include "treesample/io/json_model.hpp"
#include "treesample/remote/redis_options.hpp"

namespace treesample {

struct QuestionWorkerOptions {
  RedisOptions redis = {};
  int num_workers = 1;             // copies of each program
  std::filesystem::path log = {};  // receives the standard error of programs; empty: discarded
  // Wait for the next coordinator of that name when one has ended its run, for as long as the patience.
  bool stays = false;
  // Work although commands or files of the programs are not those of the coordinator: they compute the same.
  bool allow_other_programs = false;

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

struct QuestionWorkerReport {
  std::int64_t num_evaluations = 0;
  std::int64_t num_failed = 0;      // of them
  std::int64_t num_reconnects = 0;  // to the server
  bool is_run_finished = false;     // false: keep_going ended it
};

// Answers until the coordinator ends the run or keep_going says so. Callbacks may be called from several threads, one
// at a time. Throws kIo when the server cannot be reached within the patience, refuses the login or is too old, when
// there is no coordinator for as long, when a program cannot be used at all, and when the coordinator's model is
// another one, naming what differs.
QuestionWorkerReport answer_questions(const JsonModel& model, const QuestionWorkerOptions& options,
                                      const RunCallbacks& callbacks = {});

}  // namespace treesample
