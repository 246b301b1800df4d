// Sums of many numbers in eight parallel lanes. With a single lane, each addition would wait for the one before.
#pragma once

#include <span>

namespace treesample {

double lane_sum(std::span<const double> values);

}  // namespace treesample
