#include "math/lane_sum.hpp"

#include <cstddef>

#include "math/dispatched.hpp"

namespace treesample {

TS_DISPATCHED double lane_sum(std::span<const double> values) {
  constexpr std::size_t kLanes = 8;
  const double* const data = values.data();
  const std::size_t count = values.size();
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += data[i + lane];
  }
  for (; i < count; ++i) lanes[0] += data[i];
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

}  // namespace treesample
