// `treesample infer --select gap`: the search with certified bounds, then its samplers.
#pragma once

#include "infer_methods.hpp"

namespace treesample::cli {

Answer anytime(const FactorGraph& whole, const InferOptions& options);

}  // namespace treesample::cli
