// Complete configurations whose density is known from values of functions, whoever has asked for these.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "treesample/model/evaluation_queue.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct KnownConfiguration {
  Assignment x;
  double log_density = 0.0;
  double log_error = 0.0;  // of log_density; large values may have cancelled
};

// Returns different configurations of positive density, in the order in which values are combined: each value of a
// function is combined with those values of all other functions that have the same states, and with all states of
// variables that only tables have. If a value was recorded several times, the first one counts; missing ones are left
// out. At most this many steps are made; with more values, some configurations are not found.
std::vector<KnownConfiguration> known_configurations(const FactorGraph& graph, std::span<const KnownValue> known,
                                                     std::int64_t most_steps = 2'000'000);

}  // namespace treesample
