#include "optimize/cost_tables.hpp"

#include <algorithm>
#include <cmath>

#include "math/compensated_sum.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

std::size_t index_of(const CostTables& model, const CostTable& table, std::span<const int> x) {
  std::size_t index = 0;
  for (const int v : table.scope) {
    index = index * static_cast<std::size_t>(model.num_states[v]) + static_cast<std::size_t>(x[v]);
  }
  return index;
}

// By Euclid's algorithm, with remainders that count as nothing; 0 where it becomes too small to be of use.
double common_divisor(const FactorGraph& graph) {
  constexpr double kNothing = 1e-7, kSmallest = 1e-3;  // in units of the divisor; of the first difference
  double divisor = 0.0, first = 0.0;
  for (const Factor& factor : graph.factors()) {
    for (const double value : factor.log_values()) {
      if (value == kNegInf || value == *factor.log_max()) continue;
      double difference = *factor.log_max() - value;
      if (divisor == 0.0) divisor = first = difference;
      for (;;) {
        const double rest = std::abs(std::remainder(difference, divisor));
        if (rest <= kNothing * divisor) break;
        difference = divisor;
        divisor = rest;
        if (divisor < kSmallest * first) return 0.0;
      }
    }
  }
  return divisor;
}

// What the entries of all tables are off by at most, each from the nearest multiple.
double distance_from_multiples(const FactorGraph& graph, double divisor) {
  double sum = 0.0;
  for (const Factor& factor : graph.factors()) {
    double most = 0.0;
    for (const double value : factor.log_values()) {
      if (value == kNegInf) continue;
      const double difference = *factor.log_max() - value;
      most = std::max(most, std::abs(std::remainder(difference, divisor)) + 2.0 * kEpsilon * difference);
    }
    sum += most;
  }
  return sum * (1.0 + 1e-9);
}

}  // namespace

Cost CostTables::cost(std::span<const int> x) const {
  Cost sum = 0;
  for (const CostTable& table : tables) sum = std::min(kTop, sum + table.costs[index_of(*this, table, x)]);
  return sum;
}

CostTables cost_tables(const FactorGraph& graph, const Configuration& known) {
  CostTables model;
  for (int v = 0; v < graph.num_variables(); ++v) model.num_states.push_back(graph.num_states(v));
  CompensatedSum log_max, distance;
  double input_error = 0.0;
  for (int m = 0; m < graph.num_factors(); ++m) {
    const Factor& factor = graph.factor(m);
    log_max.add(*factor.log_max());
    distance.add(*factor.log_max() - graph.log_value(m, known.x));
    double magnitude = 0.0;
    for (const double value : factor.log_values()) {
      if (value != kNegInf) magnitude = std::max(magnitude, std::abs(value));
    }
    input_error += kEpsilon * (1.0 + magnitude);
  }
  // A power of two: scaled values keep all of their digits.
  int exponent = 0;
  std::frexp(std::max(distance.value(), 1e-9), &exponent);
  model.scale = std::ldexp(static_cast<double>(kLargestCost), -exponent);
  for (int m = 0; m < graph.num_factors(); ++m) {
    const Factor& factor = graph.factor(m);
    CostTable table;
    for (const int v : factor.scope()) {  // a variable with one state is none
      if (graph.num_states(v) > 1) table.scope.push_back(v);
    }
    table.costs.reserve(factor.log_values().size());
    for (const double value : factor.log_values()) {
      // The difference is off by half a unit in its last place, which is at most one unit of cost below the line.
      const double cost = value == kNegInf ? HUGE_VAL : std::floor((*factor.log_max() - value) * model.scale) - 2.0;
      // No part of a better configuration costs as much.
      table.costs.push_back(
          cost > 2.0 * static_cast<double>(kLargestCost) ? kTop : std::max<Cost>(0, static_cast<Cost>(cost)));
    }
    model.tables.push_back(std::move(table));
  }
  model.log_max = log_max.value() + 2.0 * (log_max.rounding() + input_error) + kEpsilon * std::abs(log_max.value());
  model.rounding = 3.0 * static_cast<double>(graph.num_factors()) / model.scale + (model.log_max - log_max.value()) +
                   2.0 * input_error;
  model.step = common_divisor(graph);
  if (model.step > 0.0) model.step_error = distance_from_multiples(graph, model.step);
  if (model.step < 4.0 * (model.step_error + model.rounding)) model.step = 0.0;
  model.known = model.cost(known.x);
  return model;
}

}  // namespace treesample
