// Small models for tests. In random ones unequal numbers of states, zeros, constants, repeated scopes and unconnected
// parts all occur by chance.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample::testing {

// A model of variables with these numbers of states, without factors yet.
inline FactorGraph variables(const std::vector<int>& num_states) {
  FactorGraph graph;
  for (const int k : num_states) graph.add_variable(k);
  return graph;
}
inline FactorGraph variables(int count, int num_states) {
  return variables(std::vector<int>(static_cast<std::size_t>(count), num_states));
}

// 0, 1, ..., count - 1: an order, or a scope.
inline std::vector<int> integers(int count) {
  std::vector<int> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

struct RandomModelOptions {
  int num_variables = 6;
  int min_states = 1;  // the numbers of states are drawn uniformly from min_states..max_states
  int max_states = 3;
  int num_factors = 7;
  int min_arity = 1;  // 0: some factors have an empty scope (constants)
  int max_arity = 3;
  double zero_probability = 0.0;      // the probability that an entry is -inf
  double function_probability = 0.0;  // the probability that a factor is a function instead of a table
  double scale = 1.0;                 // standard deviation of the finite log-values
};

inline FactorGraph random_model(Random& random, const RandomModelOptions& options = {}) {
  const auto between = [&](int low, int high) {
    return low + static_cast<int>(random.below(static_cast<std::uint64_t>(high - low + 1)));
  };
  FactorGraph graph;
  for (int v = 0; v < options.num_variables; ++v) graph.add_variable(between(options.min_states, options.max_states));
  for (int m = 0; m < options.num_factors; ++m) {
    const int arity = std::min(between(options.min_arity, options.max_arity), options.num_variables);
    std::vector<int> scope = random.permutation(options.num_variables);
    scope.resize(static_cast<std::size_t>(arity));
    std::size_t num_entries = 1;
    for (const int v : scope) num_entries *= static_cast<std::size_t>(graph.num_states(v));
    std::vector<double> values(num_entries);
    for (double& value : values) {
      value = random.uniform() < options.zero_probability ? kNegInf : options.scale * random.normal();
    }
    if (random.uniform() >= options.function_probability) {
      graph.add_table(std::move(scope), std::move(values));
      continue;
    }
    std::vector<int> num_states;
    for (const int v : scope) num_states.push_back(graph.num_states(v));
    const auto look_up = [num_states, values](std::span<const int> states) {
      std::size_t index = 0;
      for (std::size_t i = 0; i < num_states.size(); ++i) {
        index = index * static_cast<std::size_t>(num_states[i]) + static_cast<std::size_t>(states[i]);
      }
      return values[index];
    };
    const double largest = *std::max_element(values.begin(), values.end());
    graph.add_factor(Factor::function(std::move(scope), look_up, largest));
  }
  return graph;
}

// Not random: a ring of variables with the same table for each pair of neighbours.
inline FactorGraph ring(int num_variables, int num_states) {
  FactorGraph graph = variables(num_variables, num_states);
  for (int v = 0; v < num_variables; ++v) {
    std::vector<double> values(num_states * num_states);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.4 * static_cast<double>(i % 4);
    graph.add_table({v, (v + 1) % num_variables}, values);
  }
  return graph;
}

// A grid of 3 x 3 binary variables, too large to be solved in a few evaluations.
inline FactorGraph small_grid(std::uint64_t seed, double scale) {
  Random random(seed, "grid");
  FactorGraph graph = variables(9, 2);
  const auto add = [&](int v, int w) {
    std::vector<double> values(4);
    for (double& value : values) value = scale * random.normal();
    graph.add_table({v, w}, values);
  };
  for (int v = 0; v < 9; ++v) {
    if (v % 3 < 2) add(v, v + 1);
    if (v < 6) add(v, v + 3);
  }
  return graph;
}

}  // namespace treesample::testing
