// Finds out what it can about a model before anything is searched: impossible states, forced variables, constant
// factors.
//
//   1. evidence fixes variables;
//   2. propagation over the -inf entries of tables removes states (reduce/propagator.hpp); so does probing:
//      a state that leads to a contradiction when it is assumed is impossible;
//   3. a variable with one state left is fixed and leaves the scopes of its factors;
//   4. a variable on which the entries of a table do not depend leaves its scope; a table without
//      variables joins one constant factor.
//
// log Z, every density and every conditional stay the same: only configurations of density 0 are lost. Less coupling
// remains, so that elimination and the space `andor` find smaller contexts and more independent parts. The time is
// linear in the table entries, apart from repeated propagation. Function factors are not examined: they only lose fixed
// variables and removed states.
#pragma once

#include <string>

#include "treesample/model/factor_graph.hpp"
#include "treesample/reduce/evidence.hpp"
#include "treesample/reduce/reduced_model.hpp"
#include "treesample/stop.hpp"

namespace treesample {

struct SimplifyReport {
  bool is_impossible = false;   // true if it was proved that Z = 0
  int num_fixed_variables = 0;  // not counting the observed ones
  int num_removed_states = 0;   // of variables that remain
  int num_dropped_factors = 0;  // factors that became constant, or were constant from the start
  int num_smaller_factors = 0;  // factors that lost a variable on which they did not depend
  // Dropped factors become one constant: log Z differs from the original one by at most this, with each factor known to
  // one unit in the last place.
  double log_error = 0.0;

  [[nodiscard]] bool is_changed() const {
    return is_impossible || num_fixed_variables + num_removed_states + num_dropped_factors + num_smaller_factors > 0;
  }
  // The report in one line; "nothing to remove" if nothing was removed.
  [[nodiscard]] std::string brief() const;
};

struct SimplifiedModel {
  ReducedModel model;
  SimplifyReport report;
};

// If there is nothing to remove, the result is the same as that of condition(). An impossible model becomes one without
// variables and with the constant -inf; the states in `fixed_states` then mean nothing. Throws Error (kArgument) as
// observed_states does. `should_stop` ends probing early; states that were not probed then stay.
SimplifiedModel simplify(const FactorGraph& graph, const Evidence& evidence = {}, const ShouldStop& should_stop = {});

}  // namespace treesample
