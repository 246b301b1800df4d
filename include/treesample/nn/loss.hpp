// The loss that training minimises, for one row of Q-values and its targets T.
#pragma once

namespace treesample {

enum class Loss {
  // The paper's loss: the sum over a of (Q(a) - T(a))^2.
  kSquared,
  // KL of softmax Q from softmax T, plus kValueWeight (log sum exp Q - log sum exp T)^2. Sampling and telescoped values
  // (value/telescoped_value.hpp) depend on these two. Most of the squared error of a graph network is in the value that
  // all actions of a node share, which comes from factors that the network does not see; with this loss that error
  // hardly disturbs the rest. Targets that are intervals get the squared error.
  kPolicy,
};
inline constexpr double kValueWeight = 0.02;

// The soft Bellman equation (the paper's equation 6) of one edge of a sample x: R_n(x_<=n) + log sum over a of exp Q(a
// | x_<=n) = Q(x_n | x_<n). The residual is the left side minus the right side; `weight` times its square is added to
// the loss of the row of x_<n. Both sides are differentiated. That is right here because steps are deterministic, so
// the squared residual has no bias, and because neither level is more accurate than the other.
struct BellmanTerm {
  double weight = 0.0;  // 0: no such term
  int action = 0;       // x_n
  double reward = 0.0;  // finite: R_n, corrected by the difference of the offsets of the two rows' Q-values
  // The number of states of the next variable. The next sample of the batch is then its row, which has no targets of
  // its own and is not counted in B. 0: n is the last level, after which values are 0.
  int num_next = 0;
};

}  // namespace treesample
