// How the greedy orders of many restarts differ.
#pragma once

#include <span>

#include "treesample/space/order.hpp"

namespace treesample {

// The variation of the restart with this number; the first, 0, is plain.
OrderVariation varied_order(int restart, std::span<const double> log2_num_states);
OrderVariation varied_order(int restart, const FactorGraph& graph);

}  // namespace treesample
