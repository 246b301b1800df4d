// The call of the tree search: its checks, its parts and its report. The algorithm is in tree_sample.cpp.
#include "tree/tree_search.hpp"

#include "tree/tree_rounding.hpp"
#include "tree/values.hpp"
#include "treesample/error.hpp"

namespace treesample {
namespace {

TreeSearchReport report_of(const FactorGraph& graph, const TreeSearchState& state, StopReason stop) {
  TreeSearchReport report;
  report.stop = stop;
  if (stop == StopReason::kFactorFailed) report.error = state.rewards.failure();
  report.estimate = root_log_value(*state.store);
  check_log_size(report.estimate);
  if (stop == StopReason::kExact) {
    const double error = tree_rounding(graph, *state.space, state.rewards.magnitudes(), report.estimate);
    report.log_z = LogBounds::around(report.estimate, error);
    if (!report.log_z.is_exact()) report.stop = StopReason::kRounding;
  }
  report.num_traversals = state.watch.num_traversals();
  report.spent = state.rewards.budget().spent();
  report.num_nodes = state.store->num_nodes();
  report.used_bytes = state.store->used_bytes();
  report.seconds = state.watch.seconds();
  return report;
}

}  // namespace

TreeSearchState::TreeSearchState(const TreeSearchCall& call)
    : space(std::make_shared<const SearchSpace>(call.space)),
      q_phi(call.leaves.estimate ? call.leaves.estimate : std::make_shared<const UniformValue>(call.space)),
      rewards(call.graph, *space, call.limits),
      store(std::make_shared<TreeStore>(space, !q_phi->counts_states(), rewards.tables().are_missing())),
      choices(*store, call.options),
      new_nodes(*store, *q_phi, choices, call.options.ties),
      watch(call, *store, rewards) {}

void TreeSearchOptions::validate() const {
  check_range("TreeSearchOptions", "observer_interval", observer_interval, 0, 1 << 30);
  check_at_least("TreeSearchOptions", "c", c, 0.0);
  check_at_least("TreeSearchOptions", "epsilon", epsilon, 0.0);
}

TreeSearchResult tree_sample(const FactorGraph& graph, const SearchSpace& space, const LeafValues& leaves,
                             const Limits& limits, const TreeSearchOptions& options, const Observer& observer) {
  limits.validate();
  options.validate();
  check_space("tree_sample", graph, space);
  check_argument(space.kind == SpaceKind::kTree, "tree_sample",
                 "the space is not `tree`: in `graph` and `andor` the search has the paper's rule (q_uct_search)");
  leaves.check_fit("tree_sample", space);
  if (options.known) check_known_paths("tree_sample", space, *options.known);
  TreeSearchState state({graph, space, leaves, limits, options, observer});
  if (options.known) insert_known_paths(state, *options.known);
  state.watch.begin();
  const StopReason stop = with_num_states(state.store->common_num_states(), [&](auto num_states) {
    return TreeSearch<SizedNode<decltype(num_states)::value>>(state).tree_sample();
  });
  return {TreeApproximation(state.store, state.q_phi), report_of(graph, state, stop)};
}

}  // namespace treesample
