// Variations of the greedy orders, one for each of many restarts.
#pragma once

#include <span>

#include "treesample/space/order.hpp"

namespace treesample {

// The variation for the restart with this number. The first one, 0, is the plain order.
OrderVariation varied_order(int restart, std::span<const double> log2_num_states);
OrderVariation varied_order(int restart, const FactorGraph& graph);

}  // namespace treesample
