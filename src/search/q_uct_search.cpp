#include "treesample/search/q_uct_search.hpp"

#include "treesample/search/search_approximation.hpp"

namespace treesample {

QUctResult q_uct_search(const FactorGraph& graph, const SearchSpace& space, const LeafValues& leaves,
                        const Limits& limits, const TreeSearchOptions& options, const Observer& observer,
                        const ShouldStop& should_give_up) {
  if (space.kind == SpaceKind::kTree) {
    TreeSearchResult result = tree_sample(graph, space, leaves, limits, options, observer);
    return {std::make_shared<TreeApproximation>(std::move(result.approximation)), result.report};
  }
  options.validate();
  check_space("q_uct_search", graph, space);
  LeafValues with_estimate = leaves;
  if (!with_estimate.estimate) with_estimate.estimate = std::make_shared<const UniformValue>(space);
  SearchOptions rule;
  rule.select = SelectRule::kQUct;
  rule.c = options.c;
  rule.epsilon = options.epsilon;
  rule.ties = options.ties;
  rule.seed = options.seed;
  rule.dive_interval = 0;
  rule.seconds_per_node = 0.5e-6;  // for the sampler, which passes once over all nodes
  if (options.observer_interval > 0) rule.observer_interval = options.observer_interval;
  const SearchResult result = search(graph, space, with_estimate, limits, rule, observer);
  try {
    return {std::make_shared<SearchApproximation>(result, SamplerKind::kEstimate, should_give_up), result.report,
            result.reward_rounding};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted) throw;
    return {nullptr, result.report};
  }
}

}  // namespace treesample
