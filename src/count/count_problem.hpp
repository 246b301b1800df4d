// The form in which count() sees a model: 0/1 unknowns, clauses, weights.
//
// A variable with two states is one atom, true in state 1. A variable with K > 2 states has K atoms "x is s", of which
// exactly one is true; this is kept as a group, not as clauses. The zeros of factors become clauses. Their other
// numbers become weights of states (one variable) or soft tables (several variables). Everything is relative to
// exp(log_constant): the largest weight of each variable and of each soft table is 1.
#pragma once

#include <cstdint>
#include <vector>

#include "count/count_number.hpp"
#include "count/soft_table.hpp"
#include "math/compensated_sum.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/space/order.hpp"

namespace treesample {

// 2 * atom: true; 2 * atom + 1: false.
using Literal = std::uint32_t;
constexpr Literal positive(int atom) { return 2 * static_cast<Literal>(atom); }
constexpr Literal opposite(Literal literal) { return literal ^ 1U; }
constexpr int atom_of(Literal literal) { return static_cast<int>(literal >> 1); }
constexpr bool is_negative(Literal literal) { return (literal & 1U) != 0; }
using Clause = std::vector<Literal>;

struct CountVariable {
  int first_atom = 0;
  int num_states = 2;
  bool has_weights = false;          // if false, all weights are 1
  bool is_hidden = false;            // its states are not counted: it is enough that there is one. It has no weights
  std::vector<CountNumber> weights;  // by state

  [[nodiscard]] bool is_group() const { return num_states > 2; }
  [[nodiscard]] int num_atoms() const { return num_states > 2 ? num_states : 1; }
  // The literal that says "the variable is in this state".
  [[nodiscard]] Literal literal(int state) const {
    return is_group() ? positive(first_atom + state) : positive(first_atom) + (state == 0 ? 1 : 0);
  }
};

struct CountProblem {
  std::vector<CountVariable> variables;
  std::vector<int> variable_of_atom;
  std::vector<Clause> clauses;  // sorted literals, no two equal; clauses of one literal and the empty one are included
  std::vector<SoftTable> soft_tables;
  CompensatedSum log_constant;
  // The largest magnitude that the logarithm of a product of weights can have.
  double log_range = 0.0;

  [[nodiscard]] int num_atoms() const { return static_cast<int>(variable_of_atom.size()); }
  // Which variables share a clause or a soft table, for orders: long clauses are left out.
  [[nodiscard]] Adjacency adjacency() const;
  // The variables of each of these.
  [[nodiscard]] std::vector<std::vector<int>> scopes() const;
};

// Pre: only tables; every variable has at least two states, as simplify() leaves them. `should_stop` ends it with Error
// (kInterrupted).
CountProblem make_problem(const FactorGraph& graph, const ShouldStop& should_stop);

}  // namespace treesample
