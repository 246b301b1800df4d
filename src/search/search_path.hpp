// The path of a traversal from a root down, and the states on it.
#pragma once

#include <vector>

#include "search/bound_store.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct SearchPath {
  std::vector<BoundStore::Place> nodes;  // that an edge was chosen at, the root first
  Assignment x;                          // by variable: the state of the chosen edge; -1 off the path
};

}  // namespace treesample
