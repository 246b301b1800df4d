#include "train/worker.hpp"

#include <fmt/format.h>

#include <cmath>

#include "treesample/math/random.hpp"

namespace treesample {
namespace {

ProblemOptions seeded(const TrainOptions& options) {
  ProblemOptions problems = options.problems;
  problems.seed = options.seed;
  return problems;
}

std::uint64_t episode_seed(const TrainOptions& options, std::uint64_t number, const char* what) {
  return Random(options.seed, fmt::format("{}/{}", what, number)).bits();
}

// Only finite values are measurements: an approximation that gives mass to the impossible has none.
std::optional<double> measured(double delta_kl) {
  return std::isfinite(delta_kl) ? std::optional<double>(delta_kl) : std::nullopt;
}

}  // namespace

TrainingProblems::TrainingProblems(const TrainOptions& options) : training_(seeded(options)) {
  if (options.test_n == 0) return;
  ProblemOptions test = seeded(options);
  test.values["n"] = options.test_n;
  test_.emplace(std::move(test));
}

std::shared_ptr<const Problem> TrainingProblems::test(std::uint64_t number,
                                                      const std::shared_ptr<const Problem>& training) const {
  return test_ ? test_->problem(kFirstTestProblem + number) : training;
}

void TrainingProblems::plan_for(const Network& network) {
  training_.plan_for(network);
  if (test_) test_->plan_for(network);
}

FinishedEpisode run_numbered_episode(const TrainOptions& options, const TrainingProblems& problems,
                                     std::uint64_t number, const ParameterBoard::Posted& parameters) {
  const std::shared_ptr<const Problem> problem = problems.training(number);
  const Episode episode =
      run_episode(problem, parameters.network, options.episode, episode_seed(options, number, "episode"));
  FinishedEpisode finished;
  finished.problem = number;
  finished.version = parameters.version;
  finished.experience = episode.experience;
  if (options.assess_every == 0 || number % options.assess_every != 0) return finished;
  const std::shared_ptr<const Problem> test = problems.test(number, problem);
  const std::uint64_t seed = episode_seed(options, number, "test");
  finished.delta_kl = measured(test == problem ? episode.delta_kl
                                               : run_episode(test, parameters.network, options.episode, seed).delta_kl);
  if (parameters.network)
    finished.delta_kl_phi = measured(network_delta_kl(*test, parameters.network, options.episode.num_samples, seed));
  EpisodeOptions plain = options.episode;
  plain.c = options.plain_c;
  finished.delta_kl_plain = measured(plain_delta_kl(*test, plain, seed));
  return finished;
}

}  // namespace treesample
