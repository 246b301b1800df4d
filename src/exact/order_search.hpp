// The search for orders of elimination.
//
// Greedy min-fill orders with noise come first; then, in rounds, a few of the best are turned into trees and annealed
// (exact/contraction_tree.hpp), beside more greedy ones. Each round is four times as long as the last one, and is made
// if it takes less than a tenth of elimination in the best order so far. Both times are predicted from counts, so the
// same options give the same order, whatever the machine does meanwhile.
#pragma once

#include <vector>

#include "exact/elimination_plan.hpp"

namespace treesample {

// The best few orders that are found, best first, without slices; none where no order is within options.most_entries.
// Of their sizes only num_entries is set for sure.
std::vector<EliminationPlan> best_orders(const ModelSizes& sizes, const EliminationOptions& options,
                                         const ShouldStop& should_stop);

// The best of this order and a few that are annealed from it with at most that much work.
std::vector<int> annealed_again(const ModelSizes& sizes, const std::vector<int>& order, double most_work,
                                const EliminationOptions& options, const ShouldStop& should_stop);

}  // namespace treesample
