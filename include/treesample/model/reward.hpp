// The reward of definition 1: R_n(x_<=n) = sum of the factors that x_n completes. This is the only
// place where a search evaluates factors and spends its budget.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "treesample/model/budget.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/model/search_space.hpp"

namespace treesample {

class Reward {
 public:
  // Keeps references to the graph, which must outlive it.
  Reward(const FactorGraph& graph, const SearchSpace& space);

  [[nodiscard]] int num_factors(int level) const { return first_[level + 1] - first_[level]; }

  // R_n at x, which holds a state for every variable on the path down to this level. Factors after
  // the first -inf are neither evaluated nor charged. Throws kNumeric for NaN and +inf.
  double evaluate(int level, std::span<const int> x, Budget& budget);

 private:
  struct Term {
    const double* table = nullptr;  // null for a function
    int factor = 0;
    int first_stride = 0, end_stride = 0;  // in strides_
  };
  double table_value(const Term& term, std::span<const int> x) const {
    std::int64_t index = 0;
    for (int s = term.first_stride; s < term.end_stride; ++s) index += x[strides_[s].first] * strides_[s].second;
    return term.table[index];
  }
  double function_value(const Term& term, std::span<const int> x);

  const FactorGraph* graph_;
  std::vector<Term> terms_;                            // grouped by level
  std::vector<int> first_;                             // first term of each level
  std::vector<std::pair<int, std::int64_t>> strides_;  // variable, stride in the table
  std::vector<int> states_;                            // arguments of a function factor
};

}  // namespace treesample
