// What all tasks of one elimination share, as bytes. Numbers are their bits: both sides are the same kind of machine.
#pragma once

#include <string>
#include <string_view>

#include "treesample/exact/elimination.hpp"

namespace treesample {

struct SharedSlices {
  FactorGraph graph;
  EliminationPlan plan;  // its order, slice variables, and the numbers of slices and entries
  double bytes = 0.0;    // of memory that a worker may use
};

std::string slice_message(const FactorGraph& graph, const EliminationPlan& plan, double bytes);
// Throws Error: kParse where the bytes are damaged, kArgument where they are of another version of the library.
SharedSlices read_slice_message(std::string_view message);

}  // namespace treesample
