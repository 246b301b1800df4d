// Plain ways to look for the best configuration of a function by few calls, to compare with.
#pragma once

#include <cstdint>

#include "treesample/model/factor_graph.hpp"

namespace treesample::experiments {

// The largest log density that each finds.

// One variable at a time gets a new state; worse configurations are taken with probability exp(difference).
double best_by_metropolis(const FactorGraph& graph, std::int64_t calls, std::uint64_t seed);
// As tree-structured Parzen estimators do for independent categories: of 24 configurations drawn from the frequencies
// of the best quarter so far the one that these prefer most over the frequencies of the rest is asked.
double best_by_frequencies(const FactorGraph& graph, std::int64_t calls, std::uint64_t seed);

}  // namespace treesample::experiments
