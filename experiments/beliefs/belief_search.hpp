// A search with beliefs about its values: every edge has a normal distribution of Q, not a number, and the next
// evaluation is the one that is expected to teach most. The paper's discussion proposes such second-order beliefs; this
// is an experiment, and no part of the library (experiments/beliefs/README.md has the result).
//
// What is not evaluated. With m_n and v_n the mean and the variance of the rewards seen at level n, and K states each,
// a sub-problem from level n on has V_n ~ N(mu_n, s2_n), where the sum of K log-normal terms is matched by its first
// two moments (Fenton and Wilkinson):
//
//   s2_n = log(1 + (exp(v_n + s2_{n+1}) - 1) / K)
//   mu_n = log K + m_n + mu_{n+1} + (v_n + s2_{n+1} - s2_n) / 2
//
// Backup. With independent Q_a ~ N(m_a, s2_a), M = sum of exp(m_a + s2_a / 2) and
// S = sum of exp(2 m_a + s2_a) (exp s2_a - 1):   V ~ N(log M - s2 / 2, s2),   s2 = log(1 + S / M^2).
//
// Gain. An edge with the share w of Z that is expanded tells its K rewards. Of its variance s2_n, g_n =
// s2_n - log(1 + (exp s2_{n+1} - 1) / K) is then gone. To first order that takes
//
//   kLogZ         w^2 g_n        from the variance of log Z: the most information about log Z
//   kDivergence   w g_n / 2      from the expected KL of P_X, 1/2 sum of w s2: the most about X
//
// and the search expands the edge with the largest gain per evaluation.
#pragma once

#include <cstdint>

#include "treesample/model/factor_graph.hpp"
#include "treesample/space/search_space.hpp"

namespace treesample::experiments {

enum class Gain { kLogZ, kDivergence };

struct BeliefSearchResult {
  double kl = 0.0;               // KL(P_X || P*), exact
  double log_z = 0.0;            // the mean of the belief about log Z
  double log_z_deviation = 0.0;  // and its standard deviation
  std::int64_t num_evaluations = 0;
};

// All K rewards of a node are evaluated at once, for K reward evaluations; levels without factors are free, as in the
// rule `mass`. In the end sub-problems that were not searched get the mean of their rewards, again as there. The space
// must be `tree`, all variables must have the same number of states, and all factors must be tables without zeros.
BeliefSearchResult belief_search(const FactorGraph& graph, const SearchSpace& space, Gain gain, std::int64_t budget,
                                 double log_z, std::uint64_t seed);

}  // namespace treesample::experiments
