// An influence diagram: chance variables with tables, decisions, and utilities that are added. exact/decisions.hpp
// solves it, io/decision_file.hpp reads it.
#pragma once

#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct Decision {
  int variable = 0;
  std::vector<int> known = {};  // when it is made, beside what was known and decided before
};

struct Utility {
  std::vector<int> scope;
  std::vector<double> values;  // row-major, the last variable fastest
};

struct DecisionModel {
  FactorGraph graph;                // decisions are variables of it
  std::vector<Decision> decisions;  // in their order in time
  std::vector<Utility> utilities;
};

}  // namespace treesample
