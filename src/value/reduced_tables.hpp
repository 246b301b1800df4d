// The factors that a sub-problem has not paid for yet, reduced to functions of its ancestors' states.
//
// Let a factor be over the levels l_1 < ... < l_s, and a sub-problem at level n with l_k < n <= l_(k+1). The states of
// l_1..l_k are then known. The reduced table T_k has the maximum, or the mean under independent distributions, over the
// states of l_(k+1)..l_s. It is made from T_(k+1) by reducing the deepest variable of that table.
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
  // Reduces the entries of a variable, one per state, to one number.
  using ReduceRow = std::function<double(int variable, std::span<const double> entries)>;
  // kSummed: the number is a weighted sum of the entries, which adds rounding errors. kPicked: it is one of the
  // entries.
  enum class Rows { kSummed, kPicked };
  struct Reduction {
    ReduceRow reduce;
    Rows rows = Rows::kPicked;
    std::vector<double> own;      // own[n] is added for level n and all levels above it
    ShouldStop should_stop = {};  // throws Error (kInterrupted)
  };
  // A function counts with its declared maximum. Time and memory are linear in the model: if levels share very many
  // tables, as in a long path, a sum is collected only when it is asked for.
  ReducedTables(const FactorGraph& graph, const SearchSpace& space, const Reduction& reduction);

  // The sum of T_k at x over the factors of level n and below, plus the sum of `own` over these levels.
  [[nodiscard]] double sum(int level, std::span<const int> x) const {
    return walk_ ? walk_->sum(level, x) : rows_.sum(level, x);
  }
  // The same for every state of the parent level's variable, whose state in x is ignored.
  void sum_each(int level, std::span<const int> x, std::span<double> values) const {
    if (walk_) {
      walk_->sum_each(level, x, values);
    } else {
      rows_.sum_each(level, x, values);
    }
  }
  // A bound on the rounding error of sum(level, .).
  [[nodiscard]] double rounding(int level) const { return rounding_[level]; }

 private:
  class Builder;

  std::vector<std::vector<double>> tables_;
  std::vector<std::vector<int>> scopes_;
  TableLookups rows_;  // by level; empty if there is a walk
  std::optional<TableWalk> walk_;
  std::vector<double> rounding_;
};

}  // namespace treesample
