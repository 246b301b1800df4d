// What certified bounds leave of an interval that holds with some probability.
#pragma once

#include "treesample/math/log_bounds.hpp"

namespace treesample {

// Bounds hold with any confidence, so the interval is cut off at them. Where they know the number, or the interval has
// missed it, which a cut would hide, they take its place.
inline LogBounds cut_interval(const LogBounds& interval, const LogBounds& bounds) {
  if (bounds.is_exact() || interval.upper < bounds.lower || interval.lower > bounds.upper) return bounds;
  return {bounds.clamp(interval.lower), bounds.clamp(interval.upper)};
}

}  // namespace treesample
