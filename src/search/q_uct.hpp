// The selection rule of the paper, eq. 8.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace treesample {

// Q(a) + c max(Q_phi(a), epsilon) sqrt(eta(x)) / (1 + eta(x o a)), with bonus = c max(Q_phi(a), epsilon).
inline double q_uct(double q, double bonus, double sqrt_node_visits, std::uint32_t edge_visits) {
  return q + bonus * sqrt_node_visits / (1.0 + edge_visits);
}

// Scores this close count as equal, so that rounding never decides between equal sub-problems.
inline double tie_tolerance(double score) { return 1e-10 * std::max(1.0, std::abs(score)); }

}  // namespace treesample
