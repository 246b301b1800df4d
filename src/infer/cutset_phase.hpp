// How infer uses cutsets (exact/cutset.hpp): after a search that is not solved, before its samples.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "infer/methods.hpp"
#include "treesample/exact/cutset.hpp"
#include "treesample/search/search_approximation.hpp"

namespace treesample {

struct CutsetTask {
  const Task& task;
  const FactorGraph& graph;          // that was searched
  const SearchApproximation& upper;  // P_U, where good configurations come from
  std::vector<Assignment> known;     // possible configurations
  double lower = 0.0;                // certified lower bound on log Z so far
  std::function<void(const Progress&)> tell;
};

// Null where there is no configuration to begin with, and where there is no time. Its lower bound may be below the
// known one.
std::shared_ptr<const CutsetSum> sum_cutset(const CutsetTask& asked, const PhaseClock& clock);

}  // namespace treesample
