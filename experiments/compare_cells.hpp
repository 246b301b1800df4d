// The runs of a comparison, and the log Z that they are compared with.
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

// No number where there is none; nothing when it was interrupted.
std::optional<Numbers> reference(const FactorGraph& graph, const CompareOptions& options, const RunControl& control);

}  // namespace treesample::experiments
