// Makes a smaller model with the same Z, before the search over the zeros begins.
//
//   split tables     a variable on which the rest of a table does not depend gets a table of its own;
//   merged states    two states of a variable in which all tables over several variables agree become one, with the sum
//                    of their weights;
//   inlined gates    a variable that one of its tables determines (for each state of the table's other variables, at
//                    most one of its own is possible) is replaced, in its other tables, by those variables, if that
//                    takes no more clauses. If there is only one other variable, of which it is a copy or an image, it
//                    is called an equivalent variable;
//   summed variables a variable whose tables together span no more than the largest of them is summed out.
//
// Inlining copies numbers; the other reductions add numbers, and their rounding is in log_error.
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
  int num_equivalent = 0;  // of these, the ones determined by one other variable
  int num_summed = 0;
  int num_split = 0;  // variables that were split off from a table
};

// Switches for measuring the reductions one by one.
struct ReduceSwitches {
  bool splits = true, merges = true, inlines = true, sums = true;
};

// Pre: tables only. `should_stop` ends it early.
CountReduction reduce_for_count(const FactorGraph& graph, const ShouldStop& should_stop,
                                const ReduceSwitches& switches = {});

}  // namespace treesample
