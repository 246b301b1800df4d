// Q-values without the states that are known to be impossible.
//
// An estimate with errors, such as a network's, gives some mass to states that the tables exclude. A single such state
// makes KL(P_X || P*) infinite. Mini-buckets prove that states are impossible, and these lose their mass: if
//
//   R_n(x, a) + sum over children j of U_j(x, a) = -inf,   then   Q(a | x) := -inf.
//
// With an i-bound of the space's width they find all impossible states, and every sample that begins at a possible
// prefix is then possible. With a smaller one some dead ends are not found. A row that would lose all of its states
// stays as it is.
#pragma once

#include <memory>

#include "treesample/value/leaf_value.hpp"

namespace treesample {

class PossibleValue final : public LeafValue {
 public:
  // `upper` is an upper bound of every sub-problem, -inf for an impossible one. Both must be made for the same space.
  PossibleValue(const SearchSpace& space, std::shared_ptr<const LeafValue> of, std::shared_ptr<const LeafValue> upper);

  void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const override;

 private:
  std::shared_ptr<const LeafValue> of_;
  std::shared_ptr<const LeafValue> upper_;
};

// Returns `of` itself if no table has a zero, if a factor is a function, or if the smallest mini-buckets do not fit
// into memory. Otherwise returns a PossibleValue from mini-buckets of one pass. They take 16 MB, or more if they must.
std::shared_ptr<const LeafValue> without_impossible(const FactorGraph& graph, const SearchSpace& space,
                                                    std::shared_ptr<const LeafValue> of,
                                                    const ShouldStop& should_stop = {});

}  // namespace treesample
