// Complete configurations whose density is known from values of functions, whoever asked for them.
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
  double log_error = 0.0;  // of log_density; large values may cancel
};

// Different ones of positive density, in the order in which values are combined: those of each function with those of
// all others that have the same states, and with all states of variables that only tables have. Of a value that was
// told again the first counts, and missing ones are left out. At most so many steps are made: with more values than
// these allow, some configurations are not found.
std::vector<KnownConfiguration> known_configurations(const FactorGraph& graph, std::span<const KnownValue> known,
                                                     std::int64_t most_steps = 2'000'000);

}  // namespace treesample
