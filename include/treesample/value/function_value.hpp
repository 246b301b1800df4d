// A leaf value from a function that the caller provides: a network on another device, a rule of thumb, the exact Q*.
//
// It is called for the Q_phi of one variable, given prefixes after which that variable comes next:
//
//   Q(a | x) = log sum over the variables that x leaves open, with `variable` = a, of exp of the factors that x alone
//              does not decide; this includes the factors that a decides.
//
// A value function sees whole prefixes, so it needs a space whose pseudo tree is a path (`tree`, `graph`).
#pragma once

#include <functional>
#include <span>

#include "treesample/value/leaf_value.hpp"

namespace treesample {

// Writes q[r * K + a] = Q(a | x_r), where K is the variable's number of states, for `count` prefixes. A prefix is a row
// with one state per variable, -1 for an open one. -inf is allowed, NaN and +inf are not. The same arguments must give
// the same values.
using ValueFunction = std::function<void(int variable, std::span<const int> prefixes, int count, std::span<double> q)>;

class FunctionValue final : public LeafValue {
 public:
  // Throws Error (kArgument) for an empty function, and if the pseudo tree of the space branches.
  FunctionValue(ValueFunction function, const SearchSpace& space);

  // Both throw kNumeric for NaN, +inf and numbers beyond kLargestMagnitude (model/log_value.hpp).
  void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const override;
  // Evaluates all states of the variable in one call.
  void log_values(int level, int variable, std::span<int> x, std::span<double> values) const override;

 private:
  const ValueFunction function_;
};

}  // namespace treesample
