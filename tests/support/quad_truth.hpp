// log Z of a small model by enumeration with 113 bits, the reference for certified numbers.
#pragma once

#include <quadmath.h>

#include <cmath>
#include <functional>
#include <vector>

#include "support/configurations.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample::testing {

using Quad = __float128;

// psi(factor, states of its scope). It returns the log-values of the model, or these changed by one unit in the last
// place, for which certified numbers must allow.
using LogValueOf = std::function<double(int factor, std::span<const int> states)>;

inline double log_value_of(const FactorGraph& graph, int factor, std::span<const int> states) {
  const Factor& psi = graph.factor(factor);
  if (!psi.is_table()) return psi.function()(states);
  std::size_t index = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    index = index * static_cast<std::size_t>(graph.num_states(psi.scope()[i])) + static_cast<std::size_t>(states[i]);
  }
  return psi.log_values()[index];
}

// In the order of for_each_configuration; -inf is minus HUGE_VALQ.
inline std::vector<Quad> quad_log_densities(const FactorGraph& graph, const LogValueOf& log_value) {
  std::vector<Quad> densities;
  std::vector<int> states;
  for_each_configuration(graph, [&](const Assignment& x) {
    Quad sum = 0;
    bool is_possible = true;
    for (int m = 0; m < graph.num_factors(); ++m) {
      states.clear();
      for (const int v : graph.factor(m).scope()) states.push_back(x[v]);
      const double value = log_value(m, states);
      is_possible = is_possible && value != kNegInf;
      if (is_possible) sum += static_cast<Quad>(value);
    }
    densities.push_back(is_possible ? sum : -HUGE_VALQ);
  });
  return densities;
}

inline Quad quad_log_sum_exp(const std::vector<Quad>& values) {
  Quad largest = -HUGE_VALQ;
  for (const Quad value : values) largest = fmaxq(largest, value);
  if (isinfq(largest) != 0) return largest;
  Quad sum = 0;
  for (const Quad value : values) sum += expq(value - largest);
  return largest + logq(sum);
}

}  // namespace treesample::testing
