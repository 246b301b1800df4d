// Exact counts of formulas, as integers and fractions of any size, as model counters give them.
//
//   const Formula formula = parse_formula(text, "queens.cnf");
//   const FormulaCount count = count_formula(formula, {.seconds = 60});
//   if (count.is_solved) print(count.numerator);
//
// The sum over the states of the shown variables (all, unless the formula says otherwise) of the product of their
// weights, as far as the states of the other variables can be chosen so that all clauses hold. Weights may be negative:
// sums are then formed exactly, but there are no bounds of a count that is stopped.
//
// It is the search of treesample/count/count.hpp, with integers beside its own numbers. The formula is made smaller
// first (count/clause_reduce.hpp); variables that others define are found with a SAT solver (formula/definitions.hpp).
#pragma once

#include <optional>
#include <string>

#include "treesample/count/count.hpp"
#include "treesample/io/dimacs.hpp"

namespace treesample {

struct FormulaOptions {
  bool has_reductions = true;
  bool has_definitions = true;  // hide variables that others define
  bool has_elimination = true;  // of variables, where that is predicted to be faster
  std::uint64_t seed = 0;
  std::int64_t decisions_alone = 20'000;  // of one thread, before the others join in
};

struct FormulaCount {
  bool is_solved = false;
  // None if it is not known. A count may be 0 for a formula that can be satisfied: by weights.
  std::optional<bool> is_satisfiable = {};
  // The count as a fraction in lowest terms, decimal digits; only if it is solved.
  std::string numerator = {}, denominator = {};
  // Certified bounds of the logarithm of the count, also if it is not solved. Of its magnitude where weights are
  // negative, and then only if it is solved.
  LogBounds log_count = {};
  bool has_negative_weights = false;
  CountReport report = {};
};

// Of the limits, it uses seconds, bytes and threads; counts do not depend on the threads. Throws Error (kResource) if
// numbers are too large to be counted with, or their digits too many for the limits.
FormulaCount count_formula(const Formula& formula, const Limits& limits = {}, const FormulaOptions& options = {},
                           const Observer& observer = {});

// Integers that find no memory throw std::bad_alloc from now on, in the whole process; GMP would end it.
void refuse_integers_by_exceptions();

}  // namespace treesample
