// The factors that a sub-problem still has to pay, reduced to what its ancestors' states say of them.
//
// For a factor over levels l_1 < ... < l_s and a sub-problem at level n, l_k < n <= l_(k+1), the states of
// l_1..l_k are known. Its entry at them is the maximum, or the mean under independent distributions, over the
// states of l_(k+1)..l_s: tables T_k, each made of T_(k+1) by taking out its deepest variable.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "treesample/model/factor_graph.hpp"
#include "treesample/model/search_space.hpp"
#include "value/table_lookups.hpp"

namespace treesample {

class ReducedTables {
 public:
  // The value of a variable's row of entries, one per state.
  using ReduceRow = std::function<double(int variable, std::span<const double> entries)>;
  // `own[n]` is added for level n and all levels above it. Functions count as their declared maximum. Rows are
  // reduced to weighted sums, whose rounding errors are those of their terms, or to one of their entries.
  enum class Rows { kSummed, kPicked };
  ReducedTables(const FactorGraph& graph, const SearchSpace& space, const ReduceRow& reduce, Rows rows,
                const std::vector<double>& own);

  // The sum over the factors of level n and below of T_k at x, and of `own` there.
  [[nodiscard]] double sum(int level, std::span<const int> x) const { return rows_.sum(level, x); }
  // The same for all states of the variable of the parent level, whatever it is in x.
  void sum_each(int level, std::span<const int> x, std::span<double> values) const { rows_.sum_each(level, x, values); }
  // A bound of the rounding error of sum(level, .).
  [[nodiscard]] double rounding(int level) const { return rounding_[level]; }

 private:
  std::vector<std::vector<double>> tables_;
  std::vector<std::vector<int>> scopes_;
  TableLookups rows_;
  std::vector<double> rounding_;
};

}  // namespace treesample
