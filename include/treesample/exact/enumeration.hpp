// Exact inference by visiting every configuration: the oracle of the tests, for small models only.
// It works for every kind of factor and evaluates each factor once per configuration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

inline constexpr std::int64_t kMaxEnumeratedConfigurations = std::int64_t{1} << 24;

// When Z = 0: log_z and all log_probs are -inf, all marginals are 0.
struct Enumeration {
  double log_z = 0.0;
  std::vector<std::vector<double>> marginals;  // [variable][state]
  std::vector<double> log_probs;               // by configuration_index
};

// Throws Error (kResource) for more than kMaxEnumeratedConfigurations configurations.
Enumeration enumerate(const FactorGraph& graph);

// Configurations are numbered row-major, the last variable fastest.
std::size_t configuration_index(const FactorGraph& graph, std::span<const int> x);
Assignment configuration_at(const FactorGraph& graph, std::size_t index);

}  // namespace treesample
