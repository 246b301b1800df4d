// Q-values without the states that are known to be impossible.
//
// An estimate with errors, such as a network's, gives some mass to states that the tables exclude. One such state, and
// KL(P_X || P*) is infinite, whatever the rest is like. Mini-buckets prove states impossible: where
//
//   R_n(x, a) + sum over children j of U_j(x, a) = -inf,        Q(a | x) := -inf.
//
// With an i-bound of the space's width they prove all of them: every sample that begins at a possible prefix is then
// possible. With a smaller one some dead ends stay unseen; a row that would lose all of its states stays as it is.
#pragma once

#include <memory>

#include "treesample/value/leaf_value.hpp"

namespace treesample {

class PossibleValue final : public LeafValue {
 public:
  // `upper` is an upper bound of every sub-problem, -inf where one is impossible. Both are made for the same space.
  PossibleValue(const SearchSpace& space, std::shared_ptr<const LeafValue> of, std::shared_ptr<const LeafValue> upper);

  void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const override;

 private:
  std::shared_ptr<const LeafValue> of_;
  std::shared_ptr<const LeafValue> upper_;
};

// `of` itself where no table has a zero, where a factor is a function, or where the smallest mini-buckets do not fit
// into memory; else PossibleValue by mini-buckets of one pass that take 16 MB or, if they must, more.
std::shared_ptr<const LeafValue> without_impossible(const FactorGraph& graph, const SearchSpace& space,
                                                    std::shared_ptr<const LeafValue> of,
                                                    const ShouldStop& should_stop = {});

}  // namespace treesample
