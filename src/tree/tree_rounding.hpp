// How far log Z of a solved tree search may be from the truth, if factors are known to one unit in their last place.
#pragma once

#include <span>

#include "treesample/model/factor_graph.hpp"
#include "treesample/space/search_space.hpp"

namespace treesample {

// `function_magnitudes`: the largest Reward::magnitude() seen at each level. The source has the derivation.
double tree_rounding(const FactorGraph& graph, const SearchSpace& space, std::span<const double> function_magnitudes,
                     double log_z);

}  // namespace treesample
