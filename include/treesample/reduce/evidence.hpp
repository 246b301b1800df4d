// Evidence: variables whose states are known. Conditioning yields a smaller model over the remaining variables. Soft
// evidence gives the likelihood of an observation for each state of a variable; it becomes one more factor.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "treesample/model/factor_graph.hpp"
#include "treesample/reduce/reduced_model.hpp"

namespace treesample {

struct Observation {
  int variable = 0;
  int state = 0;
};
using Evidence = std::vector<Observation>;

// P(observation | the variable is in this state), for each state: numbers >= 0, not all of them 0, and none so small
// that a double represents it with fewer digits than usual. A common factor changes log Z but no probability.
struct SoftObservation {
  int variable = 0;
  std::vector<double> weights = {};
};
using SoftEvidence = std::vector<SoftObservation>;
inline constexpr const char* kAllowedWeights = "0 and finite numbers from 2.23e-308 up";

struct Observations {
  Evidence states = {};
  SoftEvidence soft = {};

  [[nodiscard]] bool empty() const { return states.empty() && soft.empty(); }
};

// For each variable its observed state, or -1. Throws Error (kArgument) for an unknown variable or state, and if a
// variable is given two states.
Assignment observed_states(const FactorGraph& graph, const Evidence& evidence);

// The model over the unobserved variables. Its Z is the original sum over all x that agree with the
// evidence: a factor that became fully observed stays, as a constant. Throws as observed_states does.
ReducedModel condition(const FactorGraph& graph, const Evidence& evidence);

// The model with a table for each soft observation, after its own factors. Throws Error (kArgument) for an unknown
// variable and for weights that are not as above.
FactorGraph with_soft_evidence(FactorGraph graph, const SoftEvidence& soft);
// Says why these are not valid weights for so many states; empty if they are valid.
std::string weights_problem(std::span<const double> weights, int num_states);

}  // namespace treesample
