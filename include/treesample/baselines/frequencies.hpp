// Looks for the best configuration by the frequencies of states among the best quarter of those evaluated, as
// tree-structured Parzen estimators do for independent categories.
//
// The first 20 configurations are uniform. Let g_v and b_v be the frequencies (plus one each) of variable v's states
// among the best quarter of the evaluated configurations and among the rest. Each further step draws 24 configurations
// from the product of the g_v and evaluates the new one with the largest sum over v of log g_v(x_v) - log b_v(x_v).
//
// This is not a sampler and says nothing about log Z. A configuration is evaluated only once, and a function is not
// called again for the same states.
#pragma once

#include <cstdint>
#include <optional>

#include "treesample/model/approximation.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

struct FrequenciesOptions {
  std::uint64_t seed = 0;  // for the stream "frequencies"
};

struct FrequenciesReport : RunReport {
  std::int64_t num_asked = 0;  // configurations that were evaluated
  bool is_complete = false;    // true if all configurations were evaluated: no other is better by more than 2 log_error
  double log_error = 0.0;      // the largest rounding error of a density
};

struct FrequenciesResult {
  std::optional<Configuration> best;  // none if nothing possible was found
  FrequenciesReport report;
};

// Of the limits, it uses budget, unit and seconds. It ends as converged if everything was evaluated. Throws Error:
// kArgument for a budget that does not pay for one configuration, kNumeric if a factor returns NaN or +inf.
FrequenciesResult best_by_frequencies(const FactorGraph& graph, const Limits& limits,
                                      const FrequenciesOptions& options = {}, const Observer& observer = {});

}  // namespace treesample
