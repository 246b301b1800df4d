// Makes a set of clauses smaller before its solutions are counted.
//
//   forced literals      literals of clauses of one literal, and those whose opposites lead to a contradiction when
//   they
//                        are assumed (failed literals);
//   equivalent literals  strongly connected parts of the graph of the clauses of two literals become one literal each;
//   shorter clauses      a clause without a literal whose opposite follows when all literals before it are false
//                        (vivification), or that another clause resolves away (strengthening);
//   subsumed clauses     clauses that contain another clause;
//   resolved atoms       an atom whose states are not counted, because it is hidden or because others define it, is
//                        replaced by the resolvents of its clauses, where these are not more than before.
//
// All but the last keep the set of solutions, up to the renaming of equivalent literals. What the last one removes has
// for each solution of the rest at least one state (hidden) or exactly one (defined), so that no count changes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "count/count_problem.hpp"
#include "treesample/stop.hpp"

namespace treesample {

struct ClauseSet {
  int num_atoms = 0;
  std::vector<Clause> clauses;  // sorted literals, no two equal or opposite
};

// What may be done with an atom.
enum class AtomRole : char {
  kCounted,  // it may be fixed, or replaced by an equivalent counted literal
  kRemoved,  // besides, it may be resolved away, or replaced by any equivalent literal
};

struct ClauseReport {
  int num_fixed = 0, num_equivalent = 0, num_resolved = 0, num_failed = 0;
  std::int64_t num_subsumed = 0, num_strengthened = 0, num_vivified = 0;  // clauses

  [[nodiscard]] std::string brief() const;
};

struct ReducedClauses {
  bool is_impossible = false;
  ClauseSet rest;                                   // with the atoms as they were numbered
  std::vector<Literal> fixed;                       // literals that are true
  std::vector<std::pair<int, Literal>> equivalent;  // an atom, and the literal, of an atom that is left or fixed
  std::vector<int> resolved;                        // atoms
  ClauseReport report;
};

// Switches for measuring the reductions one by one.
struct ClauseSwitches {
  bool fails = true, equivalents = true, subsumes = true, vivifies = true, resolves = true;
};

// `should_stop` ends it early, with what was done by then.
ReducedClauses reduce_clauses(ClauseSet set, const std::vector<AtomRole>& roles, const ShouldStop& should_stop,
                              const ClauseSwitches& switches = {});

}  // namespace treesample
