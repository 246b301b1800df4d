// Queries for the joint distribution of several variables, answered after log Z and marginals: by a circuit where there
// is one, by an elimination that removes the variables last (exact/joint_table.hpp) where that fits into the memory and
// the rest of the time, otherwise by frequencies of samples, weighted where these are.
#pragma once

#include "infer/asked.hpp"
#include "infer/run.hpp"
#include "treesample/reduce/reduced_model.hpp"

namespace treesample {

// [query][joint state]; empty for queries of one variable. The circuit is of the reduced model.
std::vector<std::vector<double>> joints_by_circuit(const Circuit& circuit, const ReducedModel& model,
                                                   const AskedModel& asked, const ShouldStop& should_stop);

// Fills in what is open of answer.queries. The approximation of the answer must be one of the asked model.
void add_joint_queries(Answer& answer, const AskedModel& asked, const InferRequest& request, const Run& run);

}  // namespace treesample
