// The paper's rule in any of the spaces: the tree search in `tree`, the search by rule q-uct in `graph` and `andor`.
//
// In `graph` and `andor` the search differs from Algorithm 2 as follows. It expands a node, all K edges at once and for
// K evaluations, where the paper expands one edge; its bonus has the same c, epsilon and Q_phi. Nodes that several
// edges lead to are shared. Among independent components the one with the largest U - L comes first, then the one with
// the fewest variables. A traversal makes several expansions, each below the last
// (SearchOptions::expansions_per_traversal), and there are no dives. P_X is the sampler by estimates.
#pragma once

#include <memory>
#include <vector>

#include "treesample/store/store_approximation.hpp"
#include "treesample/tree/tree_sample.hpp"

namespace treesample {

struct QUctResult {
  std::shared_ptr<const StoreApproximation> approximation;  // null when should_give_up ended it
  StoreReport report;
  // As in SearchResult; empty in `tree`, where the bounds of a solved search count the rounding of every path.
  std::vector<double> reward_rounding = {};
};

// As tree_sample, in any space. In `graph` and `andor` making the approximation takes a pass over all nodes. That pass
// is made even after the observer has ended the search; `should_give_up` ends it.
QUctResult q_uct_search(const FactorGraph& graph, const SearchSpace& space, const LeafValues& leaves,
                        const Limits& limits, const TreeSearchOptions& options = {}, const Observer& observer = {},
                        const ShouldStop& should_give_up = {});

}  // namespace treesample
