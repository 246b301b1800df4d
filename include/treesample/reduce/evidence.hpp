// Evidence: variables whose states are known. Conditioning yields a smaller model over the rest.
#pragma once

#include <vector>

#include "treesample/model/factor_graph.hpp"
#include "treesample/reduce/reduced_model.hpp"

namespace treesample {

struct Observation {
  int variable = 0;
  int state = 0;
};
using Evidence = std::vector<Observation>;

// Per variable its observed state, or -1. Throws Error (kArgument) for an unknown variable or state,
// or one variable with two states.
Assignment observed_states(const FactorGraph& graph, const Evidence& evidence);

// The model over the unobserved variables. Its Z is the original sum over all x that agree with the
// evidence: a factor that became fully observed stays, as a constant. Throws as observed_states does.
ReducedModel condition(const FactorGraph& graph, const Evidence& evidence);

}  // namespace treesample
