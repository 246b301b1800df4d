// The joint distribution of a few variables by a circuit.
#pragma once

#include <span>
#include <vector>

#include "reduce/joint_states.hpp"
#include "treesample/count/circuit.hpp"
#include "treesample/stop.hpp"

namespace treesample {

// Probabilities of all joint states of these variables of the original model, by their index; the circuit is of the
// reduced one. Throws Error (kInterrupted) when should_stop said so.
std::vector<double> joint_by_circuit(const Circuit& circuit, const ReducedModel& model, std::span<const int> variables,
                                     const JointIndex& index, const ShouldStop& should_stop);

}  // namespace treesample
