// Marginals of barren variables (treesample/reduce/summed_model.hpp), each of them by its own ancestors.
//
// The marginal of a barren variable with several parents needs their joint distribution. To the model for a set T of
// such variables belong T, its ancestors, and what is not barren; all else is summed out. This model is often small
// although the whole one is not. Where it is too large for all of T, T is halved.
#pragma once

#include "treesample/exact/elimination.hpp"

namespace treesample {

// Adds the marginals of variables that have none in `known`, as far as the work in bucket entries and the limits allow.
// Returns the largest difference between the bounds of log Z of the models that were eliminated, or 0. The observer's
// should_stop ends it with those found so far.
double add_barren_marginals(const FactorGraph& graph, Marginals& known, double most_work, const Limits& limits,
                            const EliminationOptions& options, const Observer& observer);

}  // namespace treesample
