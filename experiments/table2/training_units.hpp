// The units of work of Table 2 and of its ablations. A unit is one training run, or the methods without a network on
// one graph.
//
// The standard of comparison: measured episodes also run TreeSample without a value function on the problem that the
// network is tested on: the one graph of a single-graph run, the episode's own test problem in a transfer run. A unit's
// numbers are means over the measured episodes of the second half (the paper: 2000-4000 of 4000), on the same problems
// for all of
//   search      delta-KL of the inference with Q_phi
//   phi         delta-KL of samples from Q_phi alone
//   telescoped  delta-KL of TreeSample with telescoped values of Q_phi (not after training by SMC)
//   corrected, uncorrected, samples  what that consists of (search_share.hpp), in every second measured episode; as
//               phi plus the mean difference from phi in the same episodes
//   plain       delta-KL of TreeSample without value function
//   log_z       exact: KL = delta-KL + log Z
//   residual    the Bellman residual of Q_phi
//   loss        of the learner
// For figures, search.00, search.01, ..., phi.00, ..., telescoped.00, ... are means over blocks of episodes, relative
// to plain in the same block; loss.00, ... are not relative. A unit without a network has `plain`, `smc` and `log_z`.
// All units have `seconds` (of processor time).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/run_store.hpp"
#include "treesample/train/train.hpp"

namespace treesample::experiments {

// A column of the paper's table, except the one without a value function.
struct TrainingColumn {
  std::string word;  // in keys and CSV files
  std::string title;
  std::string architecture;
  bool is_single_graph;
  int num_variables;  // of training problems; all tests are at kTestVariables
};
inline constexpr int kTestVariables = 20;
const std::vector<TrainingColumn>& training_columns();
const TrainingColumn& training_column(const std::string& word);

// How a network is trained; the paper's two ways come first.
struct Trainer {
  std::string word;
  std::string title;
  InferenceMethod method = InferenceMethod::kTree;
  TargetKind targets = TargetKind::kPaper;
  Loss loss = Loss::kSquared;
  double bellman_weight = LearnerOptions{}.bellman_weight;
  int iterations = GnnOptions{}.iterations;
  int global_after = GnnOptions{}.global_after;
  std::vector<int> hidden = MlpOptions{}.hidden;
  double c = EpisodeOptions{}.c;
  int steps_per_episode = TrainOptions{}.steps_per_episode;
  bool is_for_mlp = true;  // false for other numbers of iterations, which a perceptron does not have
  bool is_for_gnn = true;
  bool is_for_20_alone = false;  // true: only in the column gnn-20
};
const std::vector<Trainer>& table2_trainers();
const std::vector<Trainer>& ablation_trainers();
[[nodiscard]] bool goes_with(const Trainer& trainer, const TrainingColumn& column);

struct TrainingUnit {
  const TrainingColumn* column = nullptr;  // null: no network
  const Trainer* trainer = nullptr;        // null: no network
  Reading reading = Reading::kBest;
  int run = 0;
};
// "best/gnn-single/ts/3", "letter/none/3".
std::string key_of(const TrainingUnit& unit);
// All units of all runs, one run after the other; of the chosen columns, by their words, if any are chosen.
std::vector<TrainingUnit> training_units(int num_runs, const std::vector<Reading>& readings,
                                         const std::vector<const Trainer*>& trainers,
                                         const std::vector<std::string>& chosen_columns = {});

struct TrainingSize {
  std::int64_t budget = 2500;
  std::int64_t num_episodes = 4000;  // at least 2
  std::uint64_t seed = 0;

  // Only every fourth episode of a long run is measured, because measuring takes longer than learning.
  [[nodiscard]] int assess_every() const { return num_episodes >= 400 ? 4 : 1; }
};

// The seed depends on the run alone: all columns of a run have the same graph, and all trainers the same problems.
TrainOptions train_options(const TrainingUnit& unit, const TrainingSize& size);

// The number of blocks of episodes: at most 40, as equal as possible.
int num_blocks(const TrainingSize& size);
// The block of an episode; episodes are counted from 1.
int block_of(std::int64_t episode, const TrainingSize& size);

// `keep_going` is asked after every episode. None if it ended the unit.
std::optional<Numbers> run_training_unit(const TrainingUnit& unit, const TrainingSize& size,
                                         const std::function<bool()>& keep_going);

}  // namespace treesample::experiments
