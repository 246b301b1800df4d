// Samples of an approximation together with their density under the target.
#pragma once

#include <optional>

#include "math/compensated_sum.hpp"
#include "treesample/error.hpp"
#include "treesample/model/approximation.hpp"
#include "treesample/space/budget.hpp"

namespace treesample {

// log gamma_hat(x) as a sum that knows its rounding; stops at the first -inf. Adds the cost to `spent`: one reward per
// variable, and the factors that were read. Constants are free, as in the search.
CompensatedSum charged_density(const FactorGraph& graph, std::span<const int> x, Spending& spent);
inline double charged_log_density(const FactorGraph& graph, std::span<const int> x, Spending& spent) {
  return charged_density(graph, x, spent).value();
}

// The same. Returns none if a factor failed permanently, whose error is then kept, or if the evaluation was
// interrupted.
std::optional<CompensatedSum> density_if_answered(const FactorGraph& graph, std::span<const int> x, Spending& spent,
                                                  std::optional<Error>& error);

// One sample; none if the approximation says that no configuration has positive probability.
std::optional<Assignment> sample_if_possible(const Approximation& approximation, Random& random);

}  // namespace treesample
