// Options for a training run that takes only a second.
#pragma once

#include "treesample/train/train.hpp"

namespace treesample::testing {

inline TrainOptions small_training(int num_episodes) {
  TrainOptions options;
  options.problems.values["n"] = 8;
  options.episode.budget = 60;
  options.episode.num_samples = 16;
  options.learner.batch_size = 32;
  options.replay_capacity = 500;
  options.num_episodes = num_episodes;
  return options;
}

// A run with these options always gives the same bits.
inline TrainOptions small_deterministic_training(int num_episodes) {
  TrainOptions options = small_training(num_episodes);
  options.is_deterministic = true;
  options.steps_per_episode = 3;
  options.seed = 5;
  return options;
}

}  // namespace treesample::testing
