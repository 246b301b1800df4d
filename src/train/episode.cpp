#include "treesample/train/episode.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "train/particle_targets.hpp"
#include "treesample/baselines/smc.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/divergence.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TreeSearchOptions search_options(const EpisodeOptions& options, std::uint64_t seed) {
  TreeSearchOptions search;
  search.c = options.c;
  search.epsilon = options.epsilon;
  search.ties = TieRule::kRandom;
  search.seed = seed;
  return search;
}

std::shared_ptr<Experience> empty_experience(const std::shared_ptr<const Problem>& problem) {
  auto experience = std::make_shared<Experience>();
  experience->problem = problem;
  for (const Level& level : problem->space.levels) {
    experience->num_targets = std::max(experience->num_targets, level.num_states);
  }
  return experience;
}

Episode search_episode(const std::shared_ptr<const Problem>& problem, const std::shared_ptr<const LeafValue>& prior,
                       const EpisodeOptions& options, std::uint64_t seed) {
  const TreeSearchResult result = tree_sample(problem->graph, problem->space, {.estimate = prior},
                                              {.budget = options.budget}, search_options(options, seed));
  std::shared_ptr<Experience> experience = empty_experience(problem);
  if (result.approximation.log_z() == kNegInf) return {experience, kInfinity};
  Random random(seed, "samples");
  TreeApproximation::SampleBatch batch = result.approximation.sample_batch(options.num_samples, random);
  experience->samples = std::move(batch.states);
  double sum = 0.0;
  for (int i = 0; i < options.num_samples; ++i) {
    const std::span<const int> x = experience->sample(i);
    sum += batch.log_probs[i] - problem->graph.log_density(x);
    result.approximation.visit_path(x,
                                    [&](int level, std::span<const double> q) { add_row(*experience, i, level, q); });
  }
  return {experience, sum / options.num_samples};
}

Episode smc_episode(const std::shared_ptr<const Problem>& problem, const std::shared_ptr<const LeafValue>& prior,
                    const EpisodeOptions& options, std::uint64_t seed) {
  const SmcResult result = smc(problem->graph, problem->space, {.estimate = prior}, {.budget = options.budget},
                               {.ess_threshold = options.ess_threshold, .seed = seed});
  std::shared_ptr<Experience> experience = empty_experience(problem);
  const ParticleApproximation& particles = result.approximation;
  if (particles.is_empty()) return {experience, kInfinity};
  Random random(seed, "samples");
  ParticleTargets targets(*problem, particles, result.report.estimate);
  for (int i = 0; i < options.num_samples; ++i) {
    const Assignment x = particles.sample(random);
    experience->samples.insert(experience->samples.end(), x.begin(), x.end());
    targets.add_rows(x, i, *experience);
  }
  return {experience, -particles.mean_log_density() - particles.entropy()};
}

}  // namespace

void EpisodeOptions::validate() const {
  check_range("EpisodeOptions", "budget", budget, 1, INT64_MAX);
  check_range("EpisodeOptions", "num_samples", num_samples, 1, 1 << 20);
  check_at_least("EpisodeOptions", "c", c, 0.0);
  check_at_least("EpisodeOptions", "epsilon", epsilon, 0.0);
  check_argument(ess_threshold >= 0.0 && ess_threshold <= 1.0, "EpisodeOptions",
                 "ess_threshold must lie between 0 and 1");
}

Episode run_episode(const std::shared_ptr<const Problem>& problem, const std::shared_ptr<const Network>& network,
                    const EpisodeOptions& options, std::uint64_t seed) {
  std::shared_ptr<const LeafValue> prior;
  if (network) prior = std::make_shared<NetworkValue>(network, problem->plan, problem->graph, problem->space);
  return options.method == InferenceMethod::kSmc ? smc_episode(problem, prior, options, seed)
                                                 : search_episode(problem, prior, options, seed);
}

// All samples at once, level by level: a network answers a batch in a fraction of the time.
double network_delta_kl(const Problem& problem, const std::shared_ptr<const Network>& network, int num_samples,
                        std::uint64_t seed) {
  const NetworkValue value(network, problem.plan, problem.graph, problem.space);
  const int num_variables = problem.graph.num_variables();
  Random random(seed, "network samples");
  std::vector<int> states(static_cast<std::size_t>(num_samples) * num_variables, -1);
  std::vector<double> q;
  double sum = 0.0;
  for (int n = 0; n < problem.space.num_levels(); ++n) {
    const Level& level = problem.space.levels[n];
    q.resize(static_cast<std::size_t>(num_samples) * level.num_states);
    value.q_values(n, states, num_samples, q);
    for (int i = 0; i < num_samples; ++i) {
      const std::span<double> p =
          std::span(q).subspan(static_cast<std::size_t>(i) * level.num_states, level.num_states);
      softmax(p, p);
      const int state = random.categorical(p);
      sum += std::log(p[state]);
      states[i * num_variables + level.variable] = state;
    }
  }
  for (int i = 0; i < num_samples; ++i) {
    sum -= problem.graph.log_density(
        std::span(states).subspan(static_cast<std::size_t>(i) * num_variables, num_variables));
  }
  return sum / num_samples;
}

double plain_delta_kl(const Problem& problem, const EpisodeOptions& options, std::uint64_t seed) {
  const TreeSearchResult result =
      tree_sample(problem.graph, problem.space, {}, {.budget = options.budget}, search_options(options, seed));
  if (result.approximation.log_z() == kNegInf) return kInfinity;
  const std::optional<Divergence> divergence = store_divergence(problem.graph, result.approximation);
  if (divergence) return divergence->delta_kl;
  Random random(seed, "plain samples");
  return sampled_divergence(problem.graph, result.approximation, options.num_samples, random).delta_kl;
}

}  // namespace treesample
