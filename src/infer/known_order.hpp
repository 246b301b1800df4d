// Orders of elimination that the caller gives, in terms of the model that is eliminated.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "treesample/exact/elimination.hpp"
#include "treesample/infer/options.hpp"
#include "treesample/reduce/reduced_model.hpp"
#include "treesample/reduce/summed_model.hpp"

namespace treesample {

// The order of a file or of the options, with its slices, for the variables that are left of the graph. Throws
// OptionError where both are given, and Error that names the file.
void set_known_order(InferOptions& options, const FactorGraph& graph, const ReducedModel& left);
// The request for the model without its barren variables.
InferRequest request_without(const SummedModel& summed, const InferRequest& request);
// The plan for the known order and its slices; nothing unless it is an order of this graph.
std::optional<EliminationPlan> known_plan(const FactorGraph& graph, const InferRequest& request,
                                          const ShouldStop& should_stop);

// From the first one to the one before the end.
struct SliceRange {
  std::uint64_t first = 0, end = std::numeric_limits<std::uint64_t>::max();
};
// Of the option `slices`, where there are so many: A..B, or K/N for the K-th of N parts; all where it is not given.
// Throws OptionError.
SliceRange slice_range(const InferOptions& options, double num_slices);

}  // namespace treesample
