// Frees memory in a store with bounds.
#pragma once

#include <span>
#include <vector>

#include "search/bound_store.hpp"

namespace treesample {

// Gives back about `share` of the expansions, those with the least unresolved mass: the probability of passing through
// the node when edges are drawn by exp(U), times the part of it that is unresolved. Expansions of complete nodes, which
// only sampling needs, count a thousandth of their mass. Bounds stay. Nodes that `kept` covers keep their expansions.
void collapse_least(BoundStore& store, double share, std::span<const BoundStore::Extent> kept = {});

// By level and index: the probability of passing through the node when edges are drawn by exp(U).
std::vector<std::vector<float>> masses(const BoundStore& store);
// The part of a node's mass that is unresolved.
double open_part(const BoundNode& node);

}  // namespace treesample
