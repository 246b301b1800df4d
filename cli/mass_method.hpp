// `treesample infer --select mass`: the search for factors that can only be evaluated.
#pragma once

#include "infer_methods.hpp"

namespace treesample::cli {

Answer mass_search(const FactorGraph& graph, const InferOptions& options);

}  // namespace treesample::cli
