// Formulas in conjunctive normal form, as model counters exchange them: DIMACS with the lines of the model counting
// competition.
//
//   c t wmc                     the kind of count: mc, wmc (weights), pmc (projected) or pwmc (both)
//   p cnf 3 2                   numbers of variables and clauses
//   c p weight 1 0.4 0          the weight of a literal, a decimal number or a fraction such as 2/5
//   c p show 1 2 0              what is counted are the states of these variables
//   1 -2 0                      a clause: x1 or not x2
//   2 3 0
//
// Literals without a weight have weight 1; if one literal of a variable has a weight w from 0 to 1, the other has 1 -
// w. Other comments are ignored, and so is everything from a line with `%` on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

// A formula as it is in the file: weights stay texts, because most decimal numbers are no doubles.
struct Formula {
  int num_variables = 0;
  std::string kind = {};           // of the line `c t`; empty if there is none
  std::vector<int> literals = {};  // of all clauses, one after the other: v is true (v) or false (-v), from 1
  std::vector<std::size_t> first_literal{0};   // by clause, and one more for the end
  std::vector<std::string> weights = {};       // by literal_index(), empty for those that are not given; or none at all
  std::optional<std::vector<int>> shown = {};  // ascending; none: all variables

  [[nodiscard]] int num_clauses() const { return static_cast<int>(first_literal.size()) - 1; }
  [[nodiscard]] std::span<const int> clause(int index) const {
    return {literals.data() + first_literal[index], first_literal[index + 1] - first_literal[index]};
  }
  void add_clause(std::span<const int> clause) {
    literals.insert(literals.end(), clause.begin(), clause.end());
    first_literal.push_back(literals.size());
  }
  // v -> 2 (v - 1), -v -> 2 (v - 1) + 1.
  static constexpr std::size_t literal_index(int literal) {
    return 2 * (static_cast<std::size_t>(literal < 0 ? -literal : literal) - 1) + (literal < 0 ? 1 : 0);
  }
};

// Throws Error (kParse) with "name:line: ..." for numbers that are not those of the first line, literals and weights of
// variables that do not exist, clauses without an end and whatever else is not of the form above. In clauses, literals
// that appear twice are left out, and so are clauses with a literal and its opposite.
Formula parse_formula(std::string_view text, std::string_view source_name);
std::string format_formula(const Formula& formula);

// A variable with the states 0 and 1 for each one of the formula, called x1, x2, ...; a clause for each clause; a table
// for each variable with weights. `shown` is left out. Throws kArgument for negative weights, which have no logarithm.
FactorGraph formula_graph(const Formula& formula);
// The inverse. Throws kArgument for variables of more than two states, functions, and tables over several variables
// that hold other numbers than 0 and 1; zeros become clauses.
Formula formula_of(const FactorGraph& graph);

// True if a text in this format has lines that name the shown variables.
bool has_shown(std::string_view text);
// The two together, as a format of models.
FactorGraph parse_dimacs(std::string_view text, std::string_view source_name);
std::string format_dimacs(const FactorGraph& graph);

}  // namespace treesample
