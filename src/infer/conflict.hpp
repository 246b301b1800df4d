// Evidence of probability 0: which observations contradict each other.
#pragma once

#include "treesample/infer/infer.hpp"
#include "treesample/stop.hpp"

namespace treesample {

// For a model of tables with Z = 0: a set of observations that is impossible, and of which none can be left out, as far
// as that is found out before `should_stop`. Empty when nothing observed is to blame.
Observations conflict_of(const Model& model, const ShouldStop& should_stop);

}  // namespace treesample
