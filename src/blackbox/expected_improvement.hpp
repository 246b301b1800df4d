// E max(0, value - best) of a value that is believed to be normally distributed.
#pragma once

#include <algorithm>
#include <cmath>

#include "treesample/blackbox/surrogate.hpp"

namespace treesample {

inline double expected_improvement(const Prediction& at, double best) {
  const double sd = std::max(at.sd, 1e-12), z = (at.mean - best) / sd;
  if (z < -30.0) return 0.0;
  const double below = 0.5 * std::erfc(-z / std::sqrt(2.0));  // P(value - mean < z sd)
  return sd * (z * below + std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::acos(-1.0)));
}

}  // namespace treesample
