// What `infer` answers when there was no time for a method.
#pragma once

#include "infer_methods.hpp"

namespace treesample::cli {

// Certified bounds from one look at each factor, and one configuration if it is found at once.
Answer first_answer(const FactorGraph& graph, const InferOptions& options);

}  // namespace treesample::cli
