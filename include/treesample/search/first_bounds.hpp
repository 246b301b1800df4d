// Certified bounds of log Z before anything is searched, in one pass over the tables.
//
//   U = sum over the variables of log K_i + sum over the factors of their largest entries
//   L = the larger of Jensen's bound, sum of log K_i + sum of the factors' means, and log gamma(x) of a configuration x
//
// Loose, but there at once, whatever the model: what `infer` says when there was no time for more.
#pragma once

#include <optional>

#include "treesample/model/approximation.hpp"
#include "treesample/search/search.hpp"

namespace treesample {

// A function counts as its declared maximum in U, which is +inf where one declares none; L is then -inf. `known` is a
// configuration of the graph with its density. Rounding is included. Linear in the table entries.
LogBounds first_bounds(const FactorGraph& graph, const std::optional<Configuration>& known = {});

}  // namespace treesample
