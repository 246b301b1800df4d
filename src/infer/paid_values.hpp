// What the values of functions say that are known when a method is over, whoever paid for them: this run, an earlier
// one, another method, or an import.
#pragma once

#include <optional>
#include <string>

#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct PaidValues {
  std::optional<double> log_lower;    // certified: the sum over all configurations whose density is known
  std::optional<Configuration> best;  // of these
  double best_error = 0.0;            // by which its log density may be off by rounding
  std::string hint = {};              // on a function that seems to be monotone; empty: none
};

// Nothing where the same states have different values, so that they are noisy. Nothing is evaluated.
PaidValues paid_values(const FactorGraph& graph);

}  // namespace treesample
