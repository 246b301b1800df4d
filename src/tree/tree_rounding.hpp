// How far log Z of a solved tree search may be off, given that factors are known to one unit in their last place.
#pragma once

#include <cstdint>
#include <span>

#include "treesample/model/factor_graph.hpp"
#include "treesample/space/search_space.hpp"

namespace treesample {

// What a Q_phi that is not uniform leaves behind in the values of a solved tree.
struct PriorTraces {
  double magnitude = 0.0;      // of the largest value that it gave
  std::int64_t num_moves = 0;  // of nodes to another unit
};

// `function_magnitudes`: by level, the largest Reward::magnitude() that was seen. Derivation in the source.
double tree_rounding(const FactorGraph& graph, const SearchSpace& space, std::span<const double> function_magnitudes,
                     double log_z, const PriorTraces& prior = {});

}  // namespace treesample
