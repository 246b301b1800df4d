// Tasks of optimisation, published and of our own: domains beyond enumeration of which the best is looked for.
#pragma once

#include "black_boxes.hpp"

namespace treesample::bench {

BlackBoxProblem black_box_task(const std::string& kind, std::uint64_t instance);

}  // namespace treesample::bench
