// Interventions in a Bayesian network: do(X = x) sets a variable instead of observing it.
//
// The table P(x | parents) of each variable that is set is replaced by one that is 1 at its state and 0 elsewhere: what
// used to cause it no longer matters. Given evidence, Z is then P(evidence | do(...)), and marginals are those of
// P(. | evidence, do(...)).
#pragma once

#include "treesample/model/factor_graph.hpp"
#include "treesample/reduce/evidence.hpp"

namespace treesample {

// Throws Error (kArgument) for a model that does not have the form of a network (model/network.hpp), where it is not
// known which table belongs to a variable, and as observed_states does.
FactorGraph intervened(const FactorGraph& graph, const Evidence& done);

}  // namespace treesample
