// Parts of which black boxes are made.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "treesample/math/random.hpp"

namespace treesample::bench {

using States = std::span<const int>;

inline std::size_t cell_of(States x, const std::vector<int>& scope, std::span<const int> num_states) {
  std::size_t cell = 0;
  for (const int v : scope)
    cell = cell * static_cast<std::size_t>(num_states[v]) + static_cast<std::size_t>(x[static_cast<std::size_t>(v)]);
  return cell;
}

inline std::vector<int> choose(Random& random, int n, int k, int without = -1) {
  std::vector<int> result;
  for (const int v : random.permutation(n)) {
    if (v != without && std::ssize(result) < k) result.push_back(v);
  }
  return result;
}

struct Term {
  std::vector<int> scope;
  std::vector<double> values;
};

inline Term normal_term(Random& random, std::vector<int> scope, std::span<const int> num_states, double sd) {
  std::size_t size = 1;
  for (const int v : scope) size *= static_cast<std::size_t>(num_states[v]);
  Term term{std::move(scope), std::vector<double>(size)};
  for (double& value : term.values) value = sd * random.normal();
  return term;
}

inline double sum_of(const std::vector<Term>& terms, States x, std::span<const int> num_states) {
  double sum = 0.0;
  for (const Term& term : terms) sum += term.values[cell_of(x, term.scope, num_states)];
  return sum;
}

}  // namespace treesample::bench
