// The part of log Z that a tree search has certified so far: the mass of the configurations that it has evaluated
// completely.
#pragma once

#include "treesample/model/factor_graph.hpp"
#include "treesample/stop.hpp"
#include "treesample/tree/tree_approximation.hpp"

namespace treesample {

// A certified lower bound of log Z: the log of the sum of exp(log density) over the configurations whose factors were
// all evaluated, less all rounding; -inf if there are none. `graph` is that of the search. Takes one pass over the
// tree, about a quarter of the time of the search, and evaluates no function. `should_stop` ends it early, with the sum
// so far.
double log_evaluated_mass(const TreeApproximation& approximation, const FactorGraph& graph,
                          const ShouldStop& should_stop = {});
// The same during the search.
double log_evaluated_mass(const TreeStore& store, const FactorGraph& graph, const ShouldStop& should_stop = {});

}  // namespace treesample
