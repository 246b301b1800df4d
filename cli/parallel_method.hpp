// The paper's rule with several evaluations under way: what --oracle-workers runs.
#pragma once

#include "infer_methods.hpp"

namespace treesample::cli {

// Needs a graph with an evaluation queue. Evaluates all states of a variable at a node at once.
Answer parallel_search(const FactorGraph& graph, const InferOptions& options);

}  // namespace treesample::cli
