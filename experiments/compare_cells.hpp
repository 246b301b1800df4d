// The runs of a comparison, and the log Z with which they are compared.
#pragma once

#include "compare.hpp"
#include "run_store.hpp"

namespace treesample::experiments {

struct Cell {
  int setting;
  std::int64_t budget;
  int run;
};

std::vector<Cell> cells_of(const CompareOptions& options);
std::string key_of(const CompareOptions& options, const Cell& cell);

// Has no numbers if there is no reference; none if it was interrupted.
std::optional<Numbers> reference(const FactorGraph& graph, const CompareOptions& options, const RunControl& control);

}  // namespace treesample::experiments
