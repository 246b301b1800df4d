// Certified bounds of log Z before anything is searched, in one pass over the tables.
//
//   U = sum over the variables of log K_i + sum over the factors of their largest entries
//   L = the larger of Jensen's bound, sum of log K_i + sum of the factors' means, and log gamma(x) of a configuration x
//
// These bounds are loose, but available at once for any model: `infer` reports them when there was no time for more.
#pragma once

#include <optional>

#include "treesample/model/approximation.hpp"
#include "treesample/search/search.hpp"

namespace treesample {

// In U a function counts as its declared maximum; U is +inf and L is -inf where a function declares none. `known` is a
// configuration of the graph with its density. Rounding is included. The time is linear in the table entries.
LogBounds first_bounds(const FactorGraph& graph, const std::optional<Configuration>& known = {});

}  // namespace treesample
