// Sums of many numbers, in eight lanes side by side: one after the other would wait for each addition.
#pragma once

#include <span>

namespace treesample {

double lane_sum(std::span<const double> values);

}  // namespace treesample
