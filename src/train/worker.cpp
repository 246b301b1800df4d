#include "train/worker.hpp"

#include <fmt/format.h>

#include <cmath>

#include "treesample/exact/elimination.hpp"
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

// Only finite values are measurements: an approximation that gives mass to impossible configurations has no finite
// delta-KL.
std::optional<double> measured(double delta_kl) {
  return std::isfinite(delta_kl) ? std::optional<double>(delta_kl) : std::nullopt;
}

// log Z, from which KL = delta-KL + log Z follows, if elimination is quick.
std::optional<double> quick_log_z(const FactorGraph& graph) {
  constexpr double kMostEntries = 1e6;
  const EliminationOptions options{.goal = EliminationGoal::kLogZ, .restarts = 1, .most_entries = kMostEntries};
  if (!graph.has_only_tables()) return {};
  EliminationPlan plan = plan_elimination(graph, options);
  if (!(plan.num_entries <= kMostEntries)) return {};
  return measured(Elimination(graph, std::move(plan), {.threads = 1}, options).log_z());
}

Measurements measure(const TrainOptions& options, const std::shared_ptr<const Problem>& test,
                     const std::shared_ptr<const Network>& network, std::uint64_t seed) {
  Measurements result;
  if (network) {
    const NetworkQuality quality = network_quality(*test, network, options.episode.num_samples, seed);
    result.delta_kl_phi = measured(quality.delta_kl);
    result.bellman_residual = measured(quality.bellman_residual);
    if (options.episode.method == InferenceMethod::kTree) {
      result.delta_kl_telescoped = measured(telescoped_delta_kl(*test, network, options.episode, seed));
    }
  }
  EpisodeOptions plain = options.episode;
  plain.c = options.plain_c;
  result.delta_kl_plain = measured(plain_delta_kl(*test, plain, seed));
  result.log_z = quick_log_z(test->graph);
  return result;
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
  FinishedEpisode finished{.problem = number, .version = parameters.version, .experience = episode.experience};
  if (options.assess_every == 0 || number % options.assess_every != 0) return finished;
  const std::shared_ptr<const Problem> test = problems.test(number, problem);
  const std::uint64_t seed = episode_seed(options, number, "test");
  finished.measured = measure(options, test, parameters.network, seed);
  if (options.also_measure && parameters.network) options.also_measure(*test, parameters.network, seed);
  // If the episode was an inference on the test problem, its own delta-KL is the measurement.
  const bool is_test = test == problem && options.episode.targets == TargetKind::kPaper;
  EpisodeOptions inference = options.episode;
  inference.targets = TargetKind::kPaper;
  finished.measured.delta_kl =
      measured(is_test ? episode.delta_kl : run_episode(test, parameters.network, inference, seed).delta_kl);
  return finished;
}

}  // namespace treesample
