// Units of work of Table 2: one training run each, or the methods without network on one graph.
//
// What a unit is measured against. Every episode also runs TreeSample without a value function on the
// problem that the network is tested on: the one graph of a single-graph run, the episode's own test
// problem in a transfer run. A unit's numbers are means over the second half of its episodes (the paper:
// 2000-4000 of 4000), on the same problems for all three of
//   search   delta-KL of the inference with Q_phi
//   phi      delta-KL of samples from Q_phi alone
//   plain    delta-KL of TreeSample without value function
// search.00, search.01, ... and phi.00, ... are means over blocks of episodes, relative to plain in the
// same block: enough for a figure. A unit without network has `plain` and `smc`. All have `seconds` (CPU).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/run_store.hpp"
#include "treesample/train/train.hpp"

namespace treesample::experiments {

// A column of the paper's table, the one without value function left out.
struct TrainingColumn {
  std::string word;  // in keys and CSV files
  std::string title;
  std::string architecture;
  bool is_single_graph;
  int num_variables;  // of training problems; all tests are at kTestVariables
};
inline constexpr int kTestVariables = 20;
const std::vector<TrainingColumn>& training_columns();

struct TrainingUnit {
  const TrainingColumn* column = nullptr;  // null: no network
  InferenceMethod method = InferenceMethod::kTreeSample;
  int run = 0;
};
// "gnn-single/ts/3", "none/3".
std::string key_of(const TrainingUnit& unit);
// All units of all runs, a run after the other.
std::vector<TrainingUnit> training_units(int num_runs);

struct TrainingSize {
  std::int64_t budget = 2500;
  std::int64_t num_episodes = 4000;  // at least 2
  std::uint64_t seed = 0;
};

// The seed depends on the run alone: all columns of a run see the same graph, both trainers the same
// problems.
TrainOptions train_options(const TrainingUnit& unit, const TrainingSize& size);

// Blocks of episodes, at most 40 and as equal as possible.
int num_blocks(const TrainingSize& size);
// Of an episode, counted from 1.
int block_of(std::int64_t episode, const TrainingSize& size);

// `keep_going` is asked after every episode; none when it ended the unit.
std::optional<Numbers> run_training_unit(const TrainingUnit& unit, const TrainingSize& size,
                                         const std::function<bool()>& keep_going);

}  // namespace treesample::experiments
