// What unit propagation finds out about clauses: literals that lead to contradictions, and literals that clauses do not
// need.
#pragma once

#include "count/clause_reduce.hpp"
#include "count/clause_store.hpp"

namespace treesample {

struct ProbeSwitches {
  bool fails = true, vivifies = true;
};

// Changes the clauses, and counts in the report what it found. It ends after some millions of propagations.
void probe_clauses(ClauseStore& store, int num_atoms, const ProbeSwitches& switches, const ShouldStop& should_stop,
                   ClauseReport& report);

}  // namespace treesample
