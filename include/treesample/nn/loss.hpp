// What a network is trained to make small, for one row of Q-values and its targets T.
#pragma once

namespace treesample {

enum class Loss {
  // The paper's: the sum over a of (Q(a) - T(a))^2.
  kSquared,
  // KL of softmax Q from softmax T, and kValueWeight (log sum exp Q - log sum exp T)^2: what sampling and telescoped
  // values (value/telescoped_value.hpp) depend on. Most of the squared error of a graph network is in the value that
  // all
  // actions of a node share, which comes from factors that it does not see; here that hardly disturbs the rest. Targets
  // that are intervals have the squared error.
  kPolicy,
};
inline constexpr double kValueWeight = 0.02;

}  // namespace treesample
