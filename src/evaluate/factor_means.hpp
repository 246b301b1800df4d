// Means of factors under the uniform distribution, given some of their variables.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "treesample/model/factor_graph.hpp"
#include "treesample/space/search_space.hpp"

namespace treesample {

// One factor, with its scope in the order in which the search assigns it.
struct FactorMeans {
  std::vector<int> levels;  // of the scope, ascending
  // given[j] is over the first j levels, row-major: the mean of the entries that agree with their states. So given[0]
  // is the mean of all entries, the last one is psi itself, and each is the mean of the rows of the next. It is -inf if
  // an agreeing entry is.
  std::vector<std::vector<double>> given;
};

// Means of all factors, by factor index. All entries of functions have to be evaluated; their number is added to
// num_evaluations. None if functions have more entries than allowed.
std::optional<std::vector<FactorMeans>> factor_means(const FactorGraph& graph, const SearchSpace& space,
                                                     std::int64_t max_function_entries, std::int64_t& num_evaluations);

}  // namespace treesample
