// A smaller model with the same Z, before zeros are searched.
//
//   merged states    two states of a variable in which all tables over several variables agree are one, with the sum of
//                    their weights;
//   inlined gates    a variable that one of its tables determines (for each state of the others at most one of its own
//                    is possible) is replaced, in its other tables, by those others, where that takes no more clauses;
//   summed variables one whose tables together reach no further than the largest of them is summed out.
//
// Inlining copies numbers; the others add some up, and their rounding is in log_error.
#pragma once

#include <cstdint>

#include "treesample/model/factor_graph.hpp"
#include "treesample/stop.hpp"

namespace treesample {

struct CountReduction {
  FactorGraph graph;
  double log_error = 0.0;  // log Z differs from the original one by at most this
  int num_merged_states = 0;
  int num_inlined = 0;
  int num_summed = 0;
};

// Pre: tables only. `should_stop` ends it early.
CountReduction reduce_for_count(const FactorGraph& graph, const ShouldStop& should_stop);

}  // namespace treesample
