// Expected sums of factors where a sample leaves the store: under uniform variables, given the context of a node.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "evaluate/factor_means.hpp"

namespace treesample {

// For a node of level n with states x of the assigned variables, there are two kinds of rows over its actions a:
//
//   own[a]       = R_n(x, a): the factors that belong to n
//   below[j][a]  = mean of the factors that belong to the j-th child level or further down, given (x, a)
//
// Only the context of x matters: the levels above n that a factor at or below n reads.
class OffStoreEnergy {
 public:
  OffStoreEnergy(const SearchSpace& space, std::vector<FactorMeans> means);

  // By level: the levels whose states identify a node here, ascending. There are contexts in `tree` too, although the
  // search has none there.
  [[nodiscard]] std::vector<std::vector<int>> contexts() const;

  // Computes all rows of a node: row 0 is own, row 1 + j is below[j], each with one value per action.
  void compute_rows(int level, std::span<const int> context);
  [[nodiscard]] double own(int action) const { return rows_[action]; }
  [[nodiscard]] double below(std::size_t child, int action) const { return rows_[(1 + child) * row_size_ + action]; }
  // The mean of everything that belongs to a root level or below it, when nothing is assigned.
  [[nodiscard]] double at_root(int level) const { return plans_[level].constant; }

 private:
  // A look-up in a table of means by states of the context.
  struct Term {
    const double* means = nullptr;
    std::vector<std::pair<int, int>> fields;  // position in the context, number of states
    bool is_row = false;                      // true: the level itself is the last, fastest index
    std::size_t row = 0;                      // the row to which it is added
  };
  struct Plan {
    std::vector<int> context;
    std::vector<Term> terms;
    double constant = 0.0;  // means of factors that read nothing above the level
  };
  void make_contexts();
  void make_terms();

  const SearchSpace& space_;
  std::vector<FactorMeans> means_;
  std::vector<Plan> plans_;
  std::vector<double> rows_;
  std::size_t row_size_ = 0;
};

}  // namespace treesample
