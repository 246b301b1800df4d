// Making room in a store with bounds.
#pragma once

#include "search/bound_store.hpp"

namespace treesample {

// Gives back about `share` of the expansions, those with the least mass left to resolve: the probability of coming
// through the node when edges are drawn by exp(U), times the part of it that is unresolved. Expansions of
// complete nodes, which only sampling needs, count a thousandth of their mass. Bounds stay as they are.
void collapse_least(BoundStore& store, double share);

}  // namespace treesample
