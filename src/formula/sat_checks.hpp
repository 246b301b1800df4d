// Questions about clauses that a SAT solver answers before they are counted.
#pragma once

#include <optional>
#include <vector>

#include "count/clause_reduce.hpp"
#include "treesample/stop.hpp"

namespace treesample {

enum class Satisfiable : char { kNo, kYes, kUnknown };

struct FirstCheck {
  Satisfiable is_satisfiable = Satisfiable::kUnknown;
  std::vector<Literal> backbone;  // literals that the solver found to hold in all solutions
  // If it is satisfiable: for each atom a literal, or none of the two: whatever the states of the other atoms, all
  // clauses hold if these literals do.
  std::vector<std::optional<Literal>> enough;
};
FirstCheck check_first(const ClauseSet& set, const ShouldStop& should_stop);

// Atoms that others define: if all solutions agree on the others, they agree on these. The others are the shown atoms
// that are not in the result. This is Padoa's test: of two solutions that agree on the others, none may differ in the
// atom. Atoms are tried one by one, those with few clauses first, as far as the solver decides within some conflicts.
// `may_be_defined` has the atoms to be tried, which must be shown.
std::vector<int> defined_atoms(const ClauseSet& set, const std::vector<char>& is_hidden,
                               const std::vector<char>& may_be_defined, const ShouldStop& should_stop);

}  // namespace treesample
