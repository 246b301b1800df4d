// Evidence of probability 0: which observations contradict each other.
#pragma once

#include "treesample/infer/infer.hpp"
#include "treesample/stop.hpp"

namespace treesample {

// For a model of tables with Z = 0: a set of observations that is impossible and minimal, as far as that can be decided
// before `should_stop`. Empty when the model is impossible without any observation.
Observations conflict_of(const Model& model, const ShouldStop& should_stop);

}  // namespace treesample
