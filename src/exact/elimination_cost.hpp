// The sizes of an elimination in a given order, and the choice of variables to fix where they are too large. The best
// order is found by elimination_cost() of treesample/exact/elimination.hpp.
#pragma once

#include <span>
#include <vector>

#include "treesample/exact/elimination.hpp"
#include "treesample/space/order.hpp"

namespace treesample {

// Sizes are cut off here, so that their sums and differences stay finite.
inline constexpr double kMaxLog2Size = 1000.0;

// What the sizes of an elimination depend on.
struct ModelSizes {
  explicit ModelSizes(const FactorGraph& graph);

  [[nodiscard]] double log2_num_entries(std::span<const int> scope) const;
  // A fixed variable has one state and no neighbours.
  void fix(int variable);

  Adjacency adjacency;
  std::vector<double> log2_num_states;
};

// Sets the sizes for the order and the slices of `cost`: those of one slice, but num_entries of all slices together.
void set_sizes(EliminationCost& cost, const ModelSizes& whole, bool keep_messages, const ShouldStop& should_stop = {});

// The best of options.restarts orders, with a single slice.
EliminationCost best_order(const ModelSizes& sizes, const EliminationOptions& options, const ShouldStop& should_stop);

// The memory that is limited for a goal.
double bytes_for(const EliminationCost& cost, EliminationGoal goal);

// Fixes variables one after the other until bytes_for() is at most options.most_bytes. Each time it takes the variable
// for which the work, times the factor by which the memory is still exceeded, is least. Where the slices would need
// more than options.most_entries, they are not chosen and the cost is infinite.
void slice(EliminationCost& cost, const ModelSizes& whole, const EliminationOptions& options,
           const ShouldStop& should_stop = {});

}  // namespace treesample
