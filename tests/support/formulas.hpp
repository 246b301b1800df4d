// Random formulas, and their counts by enumeration.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "treesample/io/dimacs.hpp"
#include "treesample/math/random.hpp"

namespace treesample::testing {

struct RandomFormulaOptions {
  int most_variables = 12;
  bool has_negative = false;
};

// Clauses of up to four literals and long ones, gates, equivalences; in half of them weights in quarters, written as
// fractions and as decimals, and in half of them shown variables.
inline Formula random_formula(Random& random, const RandomFormulaOptions& options = {}) {
  const auto below = [&](int n) { return static_cast<int>(random.below(static_cast<std::uint64_t>(n))); };
  Formula formula{.num_variables = 1 + below(options.most_variables)};
  const int size = formula.num_variables;
  const auto literal = [&] { return (1 + below(size)) * (below(2) == 0 ? 1 : -1); };
  if (below(3) == 0) {  // groups of which exactly one holds
    for (int from = 1; from + 2 <= size;) {
      std::vector<int> group;
      for (const int end = std::min(size + 1, from + 3 + below(3)); from < end; ++from) {
        group.push_back(below(6) == 0 ? -from : from);
      }
      formula.add_clause(group);
      for (std::size_t i = 0; i < group.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) formula.add_clause(std::vector<int>{-group[i], -group[j]});
      }
    }
  }
  const int style = below(4), num_clauses = below((style == 0 ? 4 : formula.num_clauses() > 0 ? 1 : 3) * size + 1);
  for (int c = 0; c < num_clauses; ++c) {
    const int a = literal(), b = literal(), out = 1 + below(size);
    if (style == 3 && below(3) == 0 && std::abs(a) != std::abs(b) && std::abs(a) != out && std::abs(b) != out) {
      for (const std::vector<int>& clause : {std::vector<int>{-out, a}, {-out, b}, {out, -a, -b}}) {
        formula.add_clause(clause);
      }
      continue;
    }
    const int length = below(20) == 0 ? 1 + below(size) : 1 + below(style == 1 ? 2 : style == 2 ? 4 : 3);
    std::vector<int> clause;
    std::vector<char> is_in(static_cast<std::size_t>(size) + 1, 0);
    for (int i = 0; i < length; ++i) {
      const int next = literal();
      if (is_in[std::abs(next)]++ == 0) clause.push_back(next);
    }
    formula.add_clause(clause);
  }
  if (below(2) == 0) {
    formula.weights.resize(2 * static_cast<std::size_t>(size));
    for (int v = 1; v <= size; ++v) {
      if (below(2) == 0) continue;
      for (const int l : {v, -v}) {
        const int quarters = below(9) - (options.has_negative ? 4 : 0);
        const std::string sign = quarters < 0 ? "-" : "";
        const int size_of = std::abs(quarters);
        formula.weights[Formula::literal_index(l)] =
            below(2) == 0
                ? std::to_string(quarters) + "/4"
                : sign + std::to_string(size_of / 4) + "." + std::to_string(100 + 25 * (size_of % 4)).substr(1);
      }
    }
  }
  if (below(2) == 0) {
    formula.shown.emplace();
    for (int v = 1; v <= size; ++v) {
      if (below(2) == 0) formula.shown->push_back(v);
    }
  }
  return formula;
}

// In units of 4^-(number of shown variables).
struct EnumeratedFormula {
  std::int64_t count = 0;
  int num_shown = 0;
  bool is_satisfiable = false;
};

inline EnumeratedFormula enumerate_formula(const Formula& formula) {
  const int size = formula.num_variables;
  std::vector<char> is_shown(static_cast<std::size_t>(size) + 1, formula.shown ? 0 : 1),
      is_seen(std::size_t{1} << size, 0);
  if (formula.shown) {
    for (const int v : *formula.shown) is_shown[v] = 1;
  }
  const auto quarters = [&](int literal) -> std::int64_t {
    if (formula.weights.empty() || formula.weights[Formula::literal_index(literal)].empty()) return 4;
    const std::string& text = formula.weights[Formula::literal_index(literal)];
    const std::size_t slash = text.find('/');
    return slash != std::string::npos ? std::stoi(text) : std::llround(4.0 * std::stod(text));
  };
  EnumeratedFormula result;
  for (int v = 1; v <= size; ++v) result.num_shown += is_shown[v];
  const auto holds = [](int x, int literal) { return ((x >> (std::abs(literal) - 1)) & 1) == (literal > 0 ? 1 : 0); };
  for (int x = 0; x < 1 << size; ++x) {
    bool is_solution = true;
    for (int c = 0; c < formula.num_clauses() && is_solution; ++c) {
      is_solution = false;
      for (const int literal : formula.clause(c)) is_solution = is_solution || holds(x, literal);
    }
    if (!is_solution) continue;
    result.is_satisfiable = true;
    std::int64_t weight = 1;
    int key = 0;
    for (int v = 1; v <= size; ++v) {
      if (is_shown[v] == 0) continue;
      weight *= quarters(holds(x, v) ? v : -v);
      key |= holds(x, v) ? 1 << (v - 1) : 0;
    }
    if (is_seen[static_cast<std::size_t>(key)]++ == 0) result.count += weight;
  }
  return result;
}

}  // namespace treesample::testing
