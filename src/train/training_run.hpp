// The learner's side of a training run: replay, parameters, records and files. Both ways of running workers (threads,
// Redis) use it, from one thread.
#pragma once

#include <optional>

#include "train/checkpoint.hpp"
#include "train/progress.hpp"
#include "train/worker.hpp"
#include "treesample/train/train.hpp"

namespace treesample {

class TrainingRun {
 public:
  // A new run, or one resumed from the checkpoint in the folder.
  TrainingRun(const TrainOptions& options, TrainObserver observer);

  [[nodiscard]] const TrainOptions& options() const { return options_; }
  [[nodiscard]] const TrainingProblems& problems() const { return problems_; }
  [[nodiscard]] RunCounters& counters() { return counters_; }
  [[nodiscard]] const RunCounters& counters() const { return counters_; }
  [[nodiscard]] bool is_finished() const { return counters_.num_episodes >= options_.num_episodes; }
  // True if the observer has ended the run.
  [[nodiscard]] bool is_interrupted() const { return is_interrupted_; }
  // False while the replay is empty, and if its rows were used many times since the last episode arrived: more steps
  // would only overfit them. The learner then waits for the next episode.
  [[nodiscard]] bool has_work() const { return replay_.size() > 0 && steps_without_news_ < max_steps_without_news(); }

  // Writes the first checkpoint of a new run, so that a run that ends before its first episode can be resumed.
  void begin();
  // take() puts an episode into the replay; record() adds it to the records, after the learner steps that belong to it.
  void take(const FinishedEpisode& episode);
  void record(const FinishedEpisode& episode);
  void learn(int num_steps);

  [[nodiscard]] ParameterBoard::Posted parameters() const;
  // Writes a checkpoint if one is due, or if `always` is set. Call it right after record(), so that no loss is pending.
  void checkpoint(bool always = false);
  // True if there are episodes that are not in a checkpoint yet but will be in one.
  [[nodiscard]] bool has_unstored() const {
    return !options_.folder.empty() && counters_.num_episodes > last_checkpoint_;
  }
  // Writes checkpoint, network and figure.
  TrainReport finish();

 private:
  [[nodiscard]] std::int64_t max_steps_without_news() const;
  [[nodiscard]] std::optional<double> mean_loss() const;

  TrainOptions options_;
  TrainObserver observer_;
  TrainingProblems problems_;
  Learner learner_;
  Replay replay_;
  RunCounters counters_;
  std::optional<ProgressFile> progress_;
  bool is_interrupted_ = false;
  std::int64_t last_checkpoint_ = 0;  // number of episodes at the last checkpoint
  double loss_sum_ = 0.0;             // since the last record
  int loss_count_ = 0;
  std::int64_t steps_without_news_ = 0;
};

}  // namespace treesample
