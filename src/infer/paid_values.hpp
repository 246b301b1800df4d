// What the values of functions say that are known when a method is over, whoever paid for them: this run, an earlier
// one, another method, or an import.
#pragma once

#include <string>

#include "infer/draft.hpp"
#include "treesample/infer/options.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

// States the certified sum over all configurations whose density is known, and the best of them. Nothing where values
// are noisy: the options say so, or the same states have different values. Nothing is evaluated. Returns a hint on a
// function that seems to be monotone; empty: there is none.
std::string add_paid_values(Draft& draft, const FactorGraph& graph, const InferOptions& options);

}  // namespace treesample
