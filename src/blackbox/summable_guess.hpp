// Sums of tables that elimination can handle.
#pragma once

#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct TableTerm {
  std::vector<int> variables;
  std::vector<double> log_values;
  double strength = 0.0;
};

// Adds the terms to a model of tables: all of them, or, where its elimination would take more than `most_entries`
// bucket entries, main effects first, then the strongest ones, as many as it can.
void add_affordable(FactorGraph& graph, std::vector<TableTerm> terms, double most_entries);

}  // namespace treesample
