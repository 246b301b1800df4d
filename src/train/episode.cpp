#include "treesample/train/episode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "train/bound_targets.hpp"
#include "train/particle_targets.hpp"
#include "treesample/baselines/smc.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/divergence.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/space/reward.hpp"
#include "treesample/value/telescoped_value.hpp"

namespace treesample {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TreeSearchOptions search_options(const EpisodeOptions& options, std::uint64_t seed) {
  TreeSearchOptions search{.c = options.c, .epsilon = options.epsilon, .ties = TieRule::kRandom, .seed = seed};
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

double mean_delta_kl(const Problem& problem, const TreeApproximation::SampleBatch& batch) {
  const auto width = static_cast<std::size_t>(problem.graph.num_variables());
  double sum = 0.0;
  for (std::size_t i = 0; i < batch.log_probs.size(); ++i) {
    sum += batch.log_probs[i] - problem.graph.log_density(std::span(batch.states).subspan(i * width, width));
  }
  return sum / static_cast<double>(batch.log_probs.size());
}

// Runs the search. Its values along samples become rows, clamped to `bounds` if these are given.
Episode search_episode(const std::shared_ptr<const Problem>& problem, const std::shared_ptr<const LeafValue>& q_phi,
                       const EpisodeOptions& options, std::uint64_t seed, const BoundTargets* bounds = nullptr) {
  const TreeSearchResult result = tree_sample(problem->graph, problem->space, {.estimate = q_phi},
                                              {.budget = options.budget}, search_options(options, seed));
  std::shared_ptr<Experience> experience = empty_experience(problem);
  if (result.approximation.log_z() == kNegInf) return {experience, kInfinity};
  Random random(seed, "samples");
  TreeApproximation::SampleBatch batch = result.approximation.sample_batch(options.num_samples, random);
  const double delta_kl = mean_delta_kl(*problem, batch);
  experience->samples = std::move(batch.states);
  for (int i = 0; i < options.num_samples; ++i) {
    const std::span<const int> x = experience->sample(i);
    std::map<int, std::vector<double>> found;
    result.approximation.visit_path(x, [&](int level, std::span<const double> q) {
      if (bounds != nullptr) {
        found[level].assign(q.begin(), q.end());
      } else {
        add_row(*experience, i, level, q);
      }
    });
    if (bounds != nullptr) bounds->add_rows(x, i, found, *experience);
  }
  return {experience, delta_kl};
}

// If the problem can be solved, exact values along exact samples, without any search; otherwise targets within bounds.
Episode bounds_episode(const std::shared_ptr<const Problem>& problem, const std::shared_ptr<const LeafValue>& q_phi,
                       const EpisodeOptions& options, std::uint64_t seed) {
  const BoundTargets bounds(*problem, BoundTargets::kBytes, options.targets == TargetKind::kExact ? 1 : 10);
  if (!bounds.is_exact()) {
    if (options.targets == TargetKind::kBounds) return search_episode(problem, q_phi, options, seed, &bounds);
    throw Error(ErrorCode::kResource,
                fmt::format("problem {}: exact targets take tables of more than {} MB in this order of the variables "
                            "(width {}); allowed are the targets paper and bounds",
                            problem->id, BoundTargets::kBytes >> 20, problem->space.width()));
  }
  std::shared_ptr<Experience> experience = empty_experience(problem);
  if (bounds.log_z() == kNegInf) return {experience, kInfinity};
  Random random(seed, "samples");
  for (int i = 0; i < options.num_samples; ++i) {
    const Assignment x = bounds.sample(random);
    experience->samples.insert(experience->samples.end(), x.begin(), x.end());
    bounds.add_rows(x, i, {}, *experience);
  }
  experience->row_highs.clear();  // both ends are equal
  return {experience, -bounds.log_z()};
}

Episode smc_episode(const std::shared_ptr<const Problem>& problem, const std::shared_ptr<const LeafValue>& q_phi,
                    const EpisodeOptions& options, std::uint64_t seed) {
  const SmcResult result = smc(problem->graph, problem->space, {.estimate = q_phi}, {.budget = options.budget},
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
  check_argument(targets == TargetKind::kPaper || method == InferenceMethod::kTree, "EpisodeOptions",
                 "exact targets and bounds go with the inference treesample");
  check_at_least("EpisodeOptions", "c", c, 0.0);
  check_at_least("EpisodeOptions", "epsilon", epsilon, 0.0);
  check_argument(ess_threshold >= 0.0 && ess_threshold <= 1.0, "EpisodeOptions",
                 "ess_threshold must lie between 0 and 1");
}

Episode run_episode(const std::shared_ptr<const Problem>& problem, const std::shared_ptr<const Network>& network,
                    const EpisodeOptions& options, std::uint64_t seed) {
  std::shared_ptr<const LeafValue> q_phi;
  if (network) q_phi = std::make_shared<NetworkValue>(network, problem->plan, problem->graph, problem->space);
  if (options.targets != TargetKind::kPaper) return bounds_episode(problem, q_phi, options, seed);
  return options.method == InferenceMethod::kSmc ? smc_episode(problem, q_phi, options, seed)
                                                 : search_episode(problem, q_phi, options, seed);
}

// Takes all samples at once, level by level: a network answers a batch in a fraction of the time.
NetworkQuality network_quality(const Problem& problem, const std::shared_ptr<const Network>& network, int num_samples,
                               std::uint64_t seed) {
  const NetworkValue value(network, problem.plan, problem.graph, problem.space);
  const int num_variables = problem.graph.num_variables();
  Random random(seed, "network samples");
  Reward reward(problem.graph, problem.space);
  Budget unlimited(INT64_MAX, BudgetUnit::kReward);  // a measurement, not part of an inference
  std::vector<int> states(static_cast<std::size_t>(num_samples) * num_variables, -1);
  std::vector<double> q, edges(num_samples, 0.0);  // edges: Q of the last edge taken, minus its reward
  double sum = 0.0, squares = 0.0;
  std::int64_t count = 0;
  const auto add_residual = [&](double residual) {
    if (!std::isfinite(residual)) return;
    squares += residual * residual;
    ++count;
  };
  for (int n = 0; n < problem.space.num_levels(); ++n) {
    const Level& level = problem.space.levels[n];
    q.resize(static_cast<std::size_t>(num_samples) * level.num_states);
    value.q_values(n, states, num_samples, q);
    for (int i = 0; i < num_samples; ++i) {
      const std::span<double> p =
          std::span(q).subspan(static_cast<std::size_t>(i) * level.num_states, level.num_states);
      const std::vector<double> values(p.begin(), p.end());
      const double total = softmax(p, p);
      if (n > 0) add_residual(total - edges[i]);
      const int state = random.categorical(p);
      sum += std::log(p[state]);
      const std::span<int> x = std::span(states).subspan(static_cast<std::size_t>(i) * num_variables, num_variables);
      x[level.variable] = state;
      edges[i] = values[state] - reward.evaluate(n, x, unlimited);
    }
  }
  for (int i = 0; i < num_samples; ++i) {
    add_residual(-edges[i]);
    sum -= problem.graph.log_density(
        std::span(states).subspan(static_cast<std::size_t>(i) * num_variables, num_variables));
  }
  return {sum / num_samples, count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0.0};
}

double telescoped_delta_kl(const Problem& problem, const std::shared_ptr<const Network>& network,
                           const EpisodeOptions& options, std::uint64_t seed) {
  const auto value = std::make_shared<NetworkValue>(network, problem.plan, problem.graph, problem.space);
  const Telescoped telescoped =
      telescope(problem.graph, problem.space, value, Budget(options.budget, BudgetUnit::kReward), {}, seed);
  TreeSearchOptions search = search_options(options, seed);
  search.known = telescoped.known;
  const TreeSearchResult result = tree_sample(problem.graph, problem.space, {.estimate = telescoped.value},
                                              {.budget = options.budget - telescoped.spent.reward_evaluations}, search);
  if (result.approximation.log_z() == kNegInf) return kInfinity;
  Random random(seed, "telescoped samples");
  const TreeApproximation::SampleBatch batch = result.approximation.sample_batch(options.num_samples, random);
  return mean_delta_kl(problem, batch);
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
