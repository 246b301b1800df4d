// The range of Q_n(a | x_<n) over all prefixes and actions. With lo_m and hi_m the smallest finite and the largest
// value of factor m,
//
//   sum of lo_m  <=  Q_n(a | x_<n)  <=  log_states_below(n) + sum of hi_m       (m: the factors of level n and below)
//
// for every value that is not -inf. Targets are estimates: TreeSample uses values of Q_phi if it has evaluated nothing,
// and SMC's estimate of Z may be too high or too low. So the range is widened on both sides by its own width and 100
// nats (an unbiased estimate is that much too high with a probability below exp(-100)). A target outside of it cannot
// come from inference.
#pragma once

#include <vector>

#include "treesample/train/problem.hpp"

namespace treesample {

// By level, relative to offset(n), as targets are. Infinite if a factor is a function without a declared maximum.
std::vector<TargetRange> target_ranges(const FactorGraph& graph, const SearchSpace& space,
                                       const std::vector<double>& offsets);

}  // namespace treesample
