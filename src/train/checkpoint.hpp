// The state of a training run as one safetensors file.
//
// Tensors: "parameters/<name>", "first_moment/<name>", "second_moment/<name>" for every tensor of the network, and for
// each experience i that has rows in the replay, oldest first, "replay/<i>/samples" [samples, variables],
// "replay/<i>/rows" [rows, 2] (sample, level), "replay/<i>/targets" [rows, K] and, if targets are intervals, their
// upper ends "replay/<i>/highs" [rows, K]. Metadata: counters, the options of the run, and the numbers of the
// experiences' problems.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "train/number_set.hpp"
#include "train/worker.hpp"
#include "treesample/train/learner.hpp"
#include "treesample/train/replay.hpp"

namespace treesample {

struct RunCounters {
  std::int64_t num_episodes = 0;
  std::uint64_t next_number = 0;  // of the next episode to start
  std::int64_t num_rejected = 0;
  std::string stream_position = "0-0";  // with Redis: the last entry that was taken
  NumberSet taken;                      // with Redis: numbers of the episodes taken, so that none counts twice
};

void save_checkpoint(const std::filesystem::path& path, const TrainOptions& options, const Learner& learner,
                     const Replay& replay, const RunCounters& counters);

// Fills the learner and the replay, which must be new. Throws kParse naming the file if it is damaged, kArgument if it
// comes from a run with other options.
RunCounters load_checkpoint(const std::filesystem::path& path, const TrainOptions& options,
                            const TrainingProblems& problems, Learner& learner, Replay& replay);

}  // namespace treesample
