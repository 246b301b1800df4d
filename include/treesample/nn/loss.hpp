// The loss that training minimises, for one row of Q-values and its targets T.
#pragma once

namespace treesample {

enum class Loss {
  // The paper's loss: the sum over a of (Q(a) - T(a))^2.
  kSquared,
  // KL of softmax Q from softmax T, plus kValueWeight (log sum exp Q - log sum exp T)^2: sampling and telescoped values
  // (value/telescoped_value.hpp) depend on these. Most of the squared error of a graph network is in the value that all
  // actions of a node share, which comes from factors that the network does not see; with this loss it hardly disturbs
  // the rest. Targets that are intervals have the squared error.
  kPolicy,
};
inline constexpr double kValueWeight = 0.02;

// The soft Bellman equation of one edge of a sample x, R_n(x_<=n) + log sum over a of exp Q(a | x_<=n) = Q(x_n | x_<n)
// (the paper's equation 6): `weight` times the square of its residual, left side less right side, is added to the loss
// of the row of x_<n. Both sides are differentiated: steps are deterministic, so that the square of the residual is
// what it is and not an estimate with a bias, and neither level knows better than the other.
struct BellmanTerm {
  double weight = 0.0;  // 0: none
  int action = 0;       // x_n
  double reward = 0.0;  // finite; R_n and the difference of what the two rows' Q-values are relative to
  // States of the next variable. The next sample of the batch is then its row, without targets of its own and not
  // counted in B. 0: n is the last level, after which values are 0.
  int num_next = 0;
};

}  // namespace treesample
