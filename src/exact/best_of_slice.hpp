// The most probable configuration of one slice of a model.
#pragma once

#include <cstddef>
#include <optional>

#include "treesample/exact/elimination.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

struct BestOfSlice {
  Configuration configuration;  // of the whole model
  double log_upper = 0.0;       // no configuration of the slice has a larger log density
};

// None where the slice is impossible.
std::optional<BestOfSlice> best_of_slice(const FactorGraph& graph, const EliminationPlan& plan, std::size_t slice,
                                         const Observer& observer = {});

}  // namespace treesample
