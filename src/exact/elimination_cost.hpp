// The sizes of an elimination in a given order, and the variables to fix where they are too large; the best order is
// elimination_cost() of treesample/exact/elimination.hpp.
#pragma once

#include <span>
#include <vector>

#include "treesample/exact/elimination.hpp"
#include "treesample/space/order.hpp"

namespace treesample {

// Sizes end here, so that sums and differences of them stay finite.
inline constexpr double kMaxLog2Size = 1000.0;

// A model as far as its sizes go.
struct ModelSizes {
  explicit ModelSizes(const FactorGraph& graph);

  [[nodiscard]] double log2_num_entries(std::span<const int> scope) const;
  // A fixed variable has one state and no neighbours.
  void fix(int variable);

  Adjacency adjacency;
  std::vector<double> log2_num_states;
};

// Of one slice; num_entries of all of them. `cost` has the order and the slices.
void set_sizes(EliminationCost& cost, const ModelSizes& whole, bool keep_messages, const ShouldStop& should_stop = {});

// The best of options.restarts orders, as one slice.
EliminationCost best_order(const ModelSizes& sizes, const EliminationOptions& options, const ShouldStop& should_stop);

// The memory that counts for a goal.
double bytes_for(const EliminationCost& cost, EliminationGoal goal);

// Fixes variables, one after the other, until what counts is within options.most_bytes: each time the one with which
// the work is least for the memory that is left too much. The slices are not chosen where that takes more than
// options.most_entries; the cost is then infinite.
void slice(EliminationCost& cost, const ModelSizes& whole, const EliminationOptions& options,
           const ShouldStop& should_stop = {});

}  // namespace treesample
