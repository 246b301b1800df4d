// What infer does with cutsets (exact/cutset.hpp): after a search that is not solved, before its samples.
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
  const SearchApproximation& upper;  // by its upper bounds: where good configurations come from
  std::vector<Assignment> known;     // configurations that are known to be possible
  double lower = 0.0;                // what is certified of log Z without it
  std::function<void(const Progress&)> tell;
};

// Null where there is nothing to begin with, and where there is no time for it. What it found may be less than what is
// known already.
std::shared_ptr<const CutsetSum> sum_cutset(const CutsetTask& asked);

}  // namespace treesample
