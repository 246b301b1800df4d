// The bound at the root of a search: sweeps over the variables, forth and back, that move costs from all functions to a
// variable, its least cost to the bottom, and what is left on to the functions ahead, in equal shares (TRW-S for pairs,
// sequential reweighted message passing for larger functions). The bottom never falls, and comes near the best that
// such shifts can reach.
#pragma once

#include <span>

#include "optimize/cost_network.hpp"
#include "treesample/stop.hpp"

namespace treesample {

struct RootBoundOptions {
  int max_sweeps = 500;
  double least_gain = 3e-4;  // of the distance to the top, by ten sweeps; less ends it
};

// False: nothing cheaper than `top` is left. Before the first mark of the network.
[[nodiscard]] bool raise_bottom(CostNetwork& network, std::span<const int> line, const RootBoundOptions& options,
                                StopCheck& stop);

}  // namespace treesample
