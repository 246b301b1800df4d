// The factors that a sub-problem still has to pay, reduced to what its ancestors' states say of them.
//
// For a factor over levels l_1 < ... < l_s and a sub-problem at level n, l_k < n <= l_(k+1), the states of
// l_1..l_k are known. Its entry at them is the maximum, or the mean under independent distributions, over the
// states of l_(k+1)..l_s: tables T_k, each made of T_(k+1) by taking out its deepest variable.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "treesample/model/factor_graph.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/stop.hpp"
#include "value/table_lookups.hpp"
#include "value/table_walk.hpp"

namespace treesample {

class ReducedTables {
 public:
  // The value of a variable's row of entries, one per state.
  using ReduceRow = std::function<double(int variable, std::span<const double> entries)>;
  // Rows are reduced to weighted sums, whose rounding errors are those of their terms, or to one of their entries.
  enum class Rows { kSummed, kPicked };
  struct Reduction {
    ReduceRow reduce;
    Rows rows = Rows::kPicked;
    std::vector<double> own;      // own[n] is added for level n and all levels above it
    ShouldStop should_stop = {};  // Error (kInterrupted)
  };
  // Functions count as their declared maximum. Takes time and memory linear in the model: where a level has to do with
  // very many factors, as in a long path, its sum is collected when it is asked for.
  ReducedTables(const FactorGraph& graph, const SearchSpace& space, const Reduction& reduction);

  // The sum over the factors of level n and below of T_k at x, and of `own` there.
  [[nodiscard]] double sum(int level, std::span<const int> x) const {
    return walk_ ? walk_->sum(level, x) : rows_.sum(level, x);
  }
  // The same for all states of the variable of the parent level, whatever it is in x.
  void sum_each(int level, std::span<const int> x, std::span<double> values) const {
    if (walk_) {
      walk_->sum_each(level, x, values);
    } else {
      rows_.sum_each(level, x, values);
    }
  }
  // A bound of the rounding error of sum(level, .).
  [[nodiscard]] double rounding(int level) const { return rounding_[level]; }

 private:
  class Builder;

  std::vector<std::vector<double>> tables_;
  std::vector<std::vector<int>> scopes_;
  TableLookups rows_;  // by level; empty where there is a walk
  std::optional<TableWalk> walk_;
  std::vector<double> rounding_;
};

}  // namespace treesample
