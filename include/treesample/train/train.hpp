// Learning a value function (the paper's section 4.2): workers infer with the current Q_phi, a learner regresses Q_phi
// on the Q-values that they found, and the new parameters flow back.
//
//   worker    problem -> inference with a small budget -> samples -> Q-values along them
//   learner   replay  -> minibatch -> squared error -> Adam -> new parameters
//
// By default workers (threads) and the learner (the calling thread) run at the same time and never wait for each other:
// the number of learner steps per episode depends on the machine, and no two runs are equal. With `is_deterministic`,
// one thread alternates between an episode and steps_per_episode learner steps, and the same options give the same
// bits. Redis spreads workers over machines: train/distributed.hpp.
//
// A run writes to a folder:
//   checkpoint.safetensors  parameters, optimiser state, replay, counters; replaced after each episode
//   network.safetensors     the trained network, for `--leaf net:FILE`
//   progress.csv            a row per episode, written at once
//   progress.svg, .png      the same as a figure, if gnuplot is installed (progress.gp is its script)
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "treesample/train/episode.hpp"
#include "treesample/train/learner.hpp"
#include "treesample/train/problem.hpp"

namespace treesample {

struct TrainOptions {
  ProblemOptions problems;
  // The family's `n` for test problems; 0: performance is measured on the problems that are trained on.
  int test_n = 0;
  EpisodeOptions episode;
  LearnerOptions learner;
  std::int64_t num_episodes = 4000;
  std::int64_t replay_capacity = 10'000;  // rows
  bool is_deterministic = false;
  int steps_per_episode = 16;  // only when deterministic
  int num_workers = 1;         // threads; 1 when deterministic
  int assess_every = 1;        // episodes between two measurements of delta-KL; 0: never
  // The exploration constant of TreeSample without a value function. It has its own, because the best c need not be the
  // same.
  double plain_c = 2.0;
  std::uint64_t seed = 0;             // for everything random
  std::filesystem::path folder = {};  // empty: nothing is written
  int checkpoint_every = 1;           // episodes
  // Continues from the checkpoint in `folder` if there is one. It must come from the same options, except num_episodes
  // and num_workers.
  bool resume = false;
  // Called with the test problem and the network of each measured episode, by the thread that measures it, for
  // measurements beside those of the run. May be empty. Not part of the run: resuming does not compare it, and workers
  // on other machines do not have it.
  std::function<void(const Problem& test, const std::shared_ptr<const Network>& network, std::uint64_t seed)>
      also_measure = {};

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

// Everything that defines a run, as JSON. Resuming compares it, network files contain it as "training", and workers on
// other machines receive it. It does not contain num_episodes, num_workers and the folder.
std::string format_train_options(const TrainOptions& options);
// Throws kParse for anything that format_train_options does not write.
TrainOptions parse_train_options(const std::string& text);

// Measured on the test problem of an episode; empty if not measured.
struct Measurements {
  // delta-KL of four approximations with one budget: of the inference with Q_phi, of Q_phi alone, of TreeSample without
  // a value function, and of TreeSample with telescoped values of Q_phi (value/telescoped_value.hpp; only if TreeSample
  // is the inference).
  std::optional<double> delta_kl = {};
  std::optional<double> delta_kl_phi = {};
  std::optional<double> delta_kl_plain = {};
  std::optional<double> delta_kl_telescoped = {};
  std::optional<double> bellman_residual = {};  // of Q_phi, root mean square along its samples
  std::optional<double> log_z = {};             // exact, if that is quick: KL is delta-KL + log Z
};

// A row of progress.csv.
struct EpisodeRecord {
  std::int64_t episode = 0;         // the number of finished episodes, including this one
  std::uint64_t problem = 0;        // the number of its problem
  std::int64_t version = 0;         // the number of learner steps that led to the parameters it used
  std::int64_t steps = 0;           // learner steps so far
  std::optional<double> loss = {};  // mean over the steps since the last row; none if there was no step
  int num_rows = 0;                 // rows that were added to the replay
  Measurements measured = {};
};

struct TrainReport {
  std::int64_t num_episodes = 0;                                // finished, including those before resuming
  std::int64_t num_steps = 0;                                   // of the learner
  std::int64_t num_rejected = 0;                                // episodes from other machines that were refused
  std::map<std::string, std::int64_t> rejected_by_worker = {};  // since the start or resumption
  std::string last_rejection = {};                              // the worker and the reason
  bool is_finished = false;                                     // false if the observer ended the run
  bool has_figure = false;
  std::shared_ptr<const Network> network;
};

// Called after each episode; returning false ends the run, which can be resumed.
using TrainObserver = std::function<bool(const EpisodeRecord&)>;

TrainReport train(const TrainOptions& options, const TrainObserver& observer = {});

}  // namespace treesample
