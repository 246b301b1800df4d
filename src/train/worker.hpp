// The work of a worker, in whatever process it runs: one episode after the other, each measured.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "treesample/train/train.hpp"

namespace treesample {

// The result of one episode.
struct FinishedEpisode {
  std::string worker;  // host:pid; empty for a thread of the learner's process
  std::uint64_t problem = 0;
  std::int64_t version = 0;
  std::shared_ptr<const Experience> experience;
  Measurements measured = {};
};

// The problems that a run is trained on and tested on, planned for its network.
class TrainingProblems {
 public:
  explicit TrainingProblems(const TrainOptions& options);

  // Both return the same object if the run has no test problems of its own.
  [[nodiscard]] std::shared_ptr<const Problem> training(std::uint64_t number) const {
    return training_.problem(number);
  }
  [[nodiscard]] std::shared_ptr<const Problem> test(std::uint64_t number,
                                                    const std::shared_ptr<const Problem>& training) const;
  [[nodiscard]] const ProblemSource& source() const { return training_; }
  void plan_for(const Network& network);

 private:
  ProblemSource training_;
  std::optional<ProblemSource> test_;
};

// Stateless: several threads may call it at once. The result depends only on the arguments.
FinishedEpisode run_numbered_episode(const TrainOptions& options, const TrainingProblems& problems,
                                     std::uint64_t number, const ParameterBoard::Posted& parameters);

}  // namespace treesample
