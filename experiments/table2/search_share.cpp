#include "search_share.hpp"

#include "treesample/math/random.hpp"
#include "treesample/value/telescoped_value.hpp"

namespace treesample::experiments {
namespace {

// Samples with their share of the budget; the search on top of them gets the rest.
struct Share {
  RootSamplesOptions samples;
  bool has_search = true;
};

double delta_kl(const treesample::Problem& problem, const std::shared_ptr<const LeafValue>& network,
                const EpisodeOptions& options, const Share& way, std::uint64_t seed) {
  const Budget budget(options.budget, BudgetUnit::kReward);
  const Telescoped made = telescope(problem.graph, problem.space, network, budget, way.samples, seed);
  TreeSearchOptions search{.c = options.c, .epsilon = options.epsilon, .ties = TieRule::kRandom, .seed = seed};
  std::int64_t left = 0;
  if (way.has_search) {
    search.known = made.known;
    left = options.budget - made.spent.reward_evaluations;
  }
  const TreeSearchResult found =
      tree_sample(problem.graph, problem.space, {.estimate = made.value}, {.budget = left}, search);
  Random random(seed, "telescoped samples");
  return mean_delta_kl(problem, found.approximation, options.num_samples, random);
}

}  // namespace

double mean_delta_kl(const treesample::Problem& problem, const TreeApproximation& approximation, int num_samples,
                     Random& random) {
  const TreeApproximation::SampleBatch batch = approximation.sample_batch(num_samples, random);
  const auto width = static_cast<std::size_t>(problem.graph.num_variables());
  double sum = 0.0;
  for (std::size_t i = 0; i < batch.log_probs.size(); ++i) {
    sum += batch.log_probs[i] - problem.graph.log_density(std::span(batch.states).subspan(i * width, width));
  }
  return sum / static_cast<double>(batch.log_probs.size());
}

SearchShare search_share(const treesample::Problem& problem, const std::shared_ptr<const Network>& network,
                         const EpisodeOptions& options, std::uint64_t seed) {
  constexpr int kAsManyAsPaid = 1 << 16;
  const auto value = std::make_shared<NetworkValue>(network, problem.plan, problem.graph, problem.space);
  const RootSamplesOptions usual;
  RootSamplesOptions uncorrected = usual;
  uncorrected.correcting = 0.0;
  const RootSamplesOptions whole{.count = kAsManyAsPaid, .share = 1.0, .correcting = 1.0};
  return {.corrected = delta_kl(problem, value, options, {usual, false}, seed),
          .uncorrected = delta_kl(problem, value, options, {uncorrected}, seed),
          .samples = delta_kl(problem, value, options, {whole, false}, seed)};
}

}  // namespace treesample::experiments
