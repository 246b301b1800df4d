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
  AnytimeOptions search;
  search.select = SelectRule::kQUct;
  search.c = options.c;
  search.epsilon = options.epsilon;
  search.ties = options.ties;
  search.seed = options.seed;
  search.dive_interval = 0;
  search.seconds_per_node = 0.5e-6;  // for the sampler, which goes once through all nodes
  if (options.observer_interval > 0) search.observer_interval = options.observer_interval;
  const AnytimeResult result = anytime_search(graph, space, with_estimate, limits, search, observer);
  try {
    return {std::make_shared<SearchApproximation>(result, SamplerKind::kEstimate, should_give_up), result.report};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted) throw;
    return {nullptr, result.report};
  }
}

}  // namespace treesample
