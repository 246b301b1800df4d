// Scores that are equal up to rounding.
#pragma once

#include <cmath>

namespace treesample {

// Scores this close count as equal, so that rounding never decides between equal sub-problems.
inline double tie_tolerance(double score) { return 1e-10 * (1.0 + std::abs(score)); }
inline bool is_higher(double score, double best) {
  return std::isinf(best) ? score > best : score > best + tie_tolerance(best);
}

}  // namespace treesample
