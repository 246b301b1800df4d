// The selection rule of the paper, eq. 8.
#pragma once

#include <cmath>

namespace treesample {

// Q(a) + c max(Q_phi(a), epsilon) sqrt(eta(x)) / (1 + eta(x o a)), with
// bonus = c max(Q_phi(a), epsilon) sqrt(eta(x)) and share = 1 / (1 + eta(x o a)).
inline double q_uct(double q, double bonus, double share) { return q + bonus * share; }

// Scores this close count as equal, so that rounding never decides between equal sub-problems.
inline double tie_tolerance(double score) { return 1e-10 * (1.0 + std::abs(score)); }
inline bool is_higher(double score, double best) {
  return std::isinf(best) ? score > best : score > best + tie_tolerance(best);
}

}  // namespace treesample
