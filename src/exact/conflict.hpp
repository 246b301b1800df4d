// Evidence of probability 0: which observations contradict each other.
#pragma once

#include "treesample/model/factor_graph.hpp"
#include "treesample/reduce/evidence.hpp"
#include "treesample/stop.hpp"

namespace treesample {

// For a model of tables with Z = 0: a set of the observations that is impossible and minimal, as far as that can be
// decided before `should_stop`. Empty when the model is impossible without any observation.
Observations conflict_of(const FactorGraph& model, Observations observed, const ShouldStop& should_stop);

}  // namespace treesample
