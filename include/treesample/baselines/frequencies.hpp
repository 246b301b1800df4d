// The best configuration by the frequencies of the best quarter, as tree-structured Parzen estimators do for
// independent categories.
//
// After 20 uniform configurations: with g_v and b_v the frequencies (plus one each) of variable v's states among the
// best quarter of what was asked and among the rest, 24 configurations are drawn from the product of the g_v, and of
// those that were not asked before the one with the largest sum over v of log g_v(x_v) - log b_v(x_v) is asked.
//
// It is no sampler and knows nothing of log Z. A configuration is asked once; a function that was asked for the same
// states before is not called again.
#pragma once

#include <cstdint>
#include <optional>

#include "treesample/model/approximation.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

struct FrequenciesOptions {
  std::uint64_t seed = 0;  // stream "frequencies"
};

struct FrequenciesReport : RunReport {
  std::int64_t num_asked = 0;  // configurations
  bool is_complete = false;    // all there are: no other is better
};

struct FrequenciesResult {
  std::optional<Configuration> best;  // none when nothing possible was met
  FrequenciesReport report;
};

// Of the limits it uses budget, unit and seconds; it ends as converged where everything was asked. Throws Error:
// kArgument for a budget that does not pay for one configuration, kNumeric when a factor returns NaN or +inf.
FrequenciesResult best_by_frequencies(const FactorGraph& graph, const Limits& limits,
                                      const FrequenciesOptions& options = {}, const Observer& observer = {});

}  // namespace treesample
