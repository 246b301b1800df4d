// Orders of elimination that the caller gives, in terms of the model that is eliminated.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

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

// Of the option `slices`: the first one, and the one behind the last; all where it is not given. Throws OptionError.
std::pair<std::uint64_t, std::uint64_t> slice_range(const InferOptions& options);

}  // namespace treesample
