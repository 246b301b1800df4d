// Cuts an interval that holds with some probability down to certified bounds.
#pragma once

#include "treesample/math/log_bounds.hpp"

namespace treesample {

// Bounds hold with any confidence, so the interval is cut off at them. They replace it if they are exact, and if the
// interval lies outside of them: a cut would hide that the interval missed the number.
inline LogBounds cut_interval(const LogBounds& interval, const LogBounds& bounds) {
  if (bounds.is_exact() || interval.upper < bounds.lower || interval.lower > bounds.upper) return bounds;
  return {bounds.clamp(interval.lower), bounds.clamp(interval.upper)};
}

}  // namespace treesample
