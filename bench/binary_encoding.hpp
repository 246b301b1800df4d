// Encodes a model so that all variables have two states: K states become the numbers of ceil(log2 K) bits, and numbers
// from K on are impossible. The benchmark compares count() with and without this encoding.
#pragma once

#include <bit>
#include <utility>
#include <vector>

#include "treesample/math/log_domain.hpp"
#include "treesample/model/factor_graph.hpp"

inline treesample::FactorGraph binary_encoded(const treesample::FactorGraph& graph) {
  using namespace treesample;
  FactorGraph result;
  std::vector<std::vector<int>> bits(static_cast<std::size_t>(graph.num_variables()));
  for (int v = 0; v < graph.num_variables(); ++v) {
    const int num_bits = std::bit_width(static_cast<unsigned>(graph.num_states(v) - 1));
    for (int b = 0; b < num_bits; ++b) bits[v].push_back(result.add_variable(2));
    std::vector<double> values(std::size_t{1} << num_bits, kNegInf);
    for (int s = 0; s < graph.num_states(v); ++s) values[s] = 0.0;
    result.add_table(bits[v], std::move(values));
  }
  for (const Factor& factor : graph.factors()) {
    std::vector<int> scope;
    for (const int v : factor.scope()) scope.insert(scope.end(), bits[v].begin(), bits[v].end());
    std::vector<double> values(std::size_t{1} << scope.size(), kNegInf);
    std::vector<int> x(factor.scope().size(), 0);
    for (const double value : factor.log_values()) {
      std::size_t place = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        place = place << bits[factor.scope()[i]].size() | static_cast<std::size_t>(x[i]);
      }
      values[place] = value;
      for (std::size_t i = x.size(); i-- > 0;) {
        if (++x[i] < graph.num_states(factor.scope()[i])) break;
        x[i] = 0;
      }
    }
    result.add_table(std::move(scope), std::move(values));
  }
  return result;
}
