// Which variables can be summed out without a trace (treesample/reduce/summed_model.hpp), one after the other.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "treesample/math/log_domain.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

// The smallest and the largest sum of a table over one of its variables, for all states of the others.
struct RowSums {
  double least = std::numeric_limits<double>::infinity(), most = kNegInf;
};
// None if they differ, or if there are rows of zeros, or if the factor is a function.
std::optional<RowSums> constant_sums(const FactorGraph& graph, int factor, int variable);

struct BarrenVariable {
  int variable = 0;
  int factor = -1;  // its only one; -1 if it has none, and is uniform
  RowSums sums = {};
};

struct BarrenVariables {
  std::vector<BarrenVariable> removed;  // in this order
  std::vector<char> has_factor;         // by factor: whether it is left
  double log_constant = 0.0;            // of what was summed out
  double log_slack = 0.0;               // it is known up to this
};

// `is_kept` are variables that must stay; none: all may go. `sums_of` is constant_sums(), or remembers what that said.
using SumsOf = std::function<std::optional<RowSums>(int factor, int variable)>;
BarrenVariables barren_variables(const FactorGraph& graph, const std::vector<char>& is_kept, const SumsOf& sums_of);

}  // namespace treesample
