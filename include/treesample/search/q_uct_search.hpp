// The paper's rule in any of the spaces: the tree search in `tree`, the search by rule q-uct in `graph` and `andor`.
//
// What the search does there of Algorithm 2, and what not: it expands a node, all K edges at once and for K
// evaluations, where the paper expands one edge; its bonus has the same c, epsilon and Q_phi; values of nodes that
// several edges lead to are shared; of independent components the one with the largest U - L, then the one with the
// fewest variables, comes first. A traversal goes on for several expansions, each below the last
// (SearchOptions::expansions_per_traversal), and there are no dives. P_X is the sampler by estimates.
#pragma once

#include <memory>

#include "treesample/store/store_approximation.hpp"
#include "treesample/tree/tree_sample.hpp"

namespace treesample {

struct QUctResult {
  std::shared_ptr<const StoreApproximation> approximation;  // null when it was given up
  StoreReport report;
};

// As tree_sample, in any space. In `graph` and `andor` the approximation takes a pass over all nodes, which
// `should_give_up` ends: after the observer has ended the search there is still an answer to be made.
QUctResult q_uct_search(const FactorGraph& graph, const SearchSpace& space, const LeafValues& leaves,
                        const Limits& limits, const TreeSearchOptions& options = {}, const Observer& observer = {},
                        const ShouldStop& should_give_up = {});

}  // namespace treesample
