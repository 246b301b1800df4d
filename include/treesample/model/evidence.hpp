// Evidence: variables whose states are known. Conditioning yields a smaller model over the rest.
#pragma once

#include <span>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct Observation {
  int variable = 0;
  int state = 0;
};
using Evidence = std::vector<Observation>;

// The model over the unobserved variables, with what is needed to speak of the original one.
// Its Z is the original sum over all x that agree with the evidence: a factor that became fully
// observed stays, as a constant.
struct ConditionedModel {
  FactorGraph graph;
  std::vector<int> variable_of;  // reduced index -> original index
  Assignment observed_states;    // per original variable: its observed state, or -1

  // The full original assignment for one of the reduced model.
  [[nodiscard]] Assignment lift(std::span<const int> reduced) const;
};

// Throws Error (kArgument) for an unknown variable or state, or one variable with two states.
ConditionedModel condition(const FactorGraph& graph, const Evidence& evidence);

}  // namespace treesample
