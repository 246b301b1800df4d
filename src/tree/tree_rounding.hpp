// How far log Z of a solved tree search may be off, given that factors are known to one unit in their last place.
#pragma once

#include <span>

#include "treesample/model/factor_graph.hpp"
#include "treesample/space/search_space.hpp"

namespace treesample {

// `function_magnitudes`: by level, the largest Reward::magnitude() that was seen. Derivation in the source.
double tree_rounding(const FactorGraph& graph, const SearchSpace& space, std::span<const double> function_magnitudes,
                     double log_z);

}  // namespace treesample
