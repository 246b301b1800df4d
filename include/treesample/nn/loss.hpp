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

}  // namespace treesample
