// The sizes of an elimination in a given order, and the choice of variables to fix where they are too large. Orders
// are found by exact/order_search.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "treesample/exact/elimination.hpp"
#include "treesample/space/order.hpp"

namespace treesample {

// Sizes are cut off here, so that their sums and differences stay finite.
inline constexpr double kMaxLog2Size = 1000.0;
inline double exp2_limited(double log2_size) { return std::exp2(std::min(log2_size, kMaxLog2Size)); }

// What the sizes of an elimination depend on.
struct ModelSizes {
  explicit ModelSizes(const FactorGraph& graph);

  [[nodiscard]] double log2_num_entries(std::span<const int> scope) const;
  // A fixed variable has one state and no neighbours.
  void fix(int variable);

  // The scopes of the factors, without fixed variables.
  [[nodiscard]] std::vector<std::vector<int>> scopes() const;

  Adjacency adjacency;
  std::vector<double> log2_num_states;

 private:
  const FactorGraph* graph_;
  std::vector<bool> is_fixed_;
};

// Sets the sizes for the order and the slices of the plan: those of one slice, but num_entries of all slices together.
void set_sizes(EliminationPlan& plan, const ModelSizes& whole, const ShouldStop& should_stop = {});

// The work for a goal, in units of that for log Z.
inline double num_passes(EliminationGoal goal) { return goal == EliminationGoal::kMarginals ? 5.0 : 1.0; }

// The predicted time for a goal, in the bucket entries that are summed meanwhile: entries, new memory, which is slow
// (slices use the same memory), and what is the same for every slice however small it is.
double predicted_work(const EliminationPlan& plan, EliminationGoal goal);

// Fixes variables one after the other until bytes_for() is at most options.most_bytes and one more would not make the
// work less. Each time it takes the variable for which the work, times the factor by which the memory is still
// exceeded, is least, and anneals the order again for what is left. Where the slices would need more than
// options.most_entries, they are not chosen and the plan is not possible.
void slice(EliminationPlan& plan, const ModelSizes& whole, const EliminationOptions& options,
           const ShouldStop& should_stop = {});

}  // namespace treesample
