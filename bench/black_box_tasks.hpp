// Optimisation tasks, published ones and our own. Their domains cannot be enumerated, and only the best value is
// wanted.
#pragma once

#include "black_boxes.hpp"

namespace treesample::bench {

BlackBoxProblem black_box_task(const std::string& kind, std::uint64_t instance);

}  // namespace treesample::bench
