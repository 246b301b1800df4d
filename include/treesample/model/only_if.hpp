// Variables that matter only where others are in certain states: the restart length of a solver that has one.
//
// Elsewhere such a variable is in its first state and in no other one. A configuration in which it does not matter is
// then there once, and not once for each of its states: it is evaluated once, and has its mass once.
#pragma once

#include <span>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

// The table over (other, variable) that says so: 0, or -inf where `other` is in none of the states and the variable not
// in its first one. Throws Error (kArgument) for a state that `other` does not have, and where there is none.
std::vector<double> only_if_table(int num_states_of_other, std::span<const int> states, int num_states);

// Adds that table and returns its index. Of several conditions on one variable, all have to hold.
int add_only_if(FactorGraph& graph, int variable, int other, std::span<const int> states);

}  // namespace treesample
