// Random models in the regions where certificates are likely to fail: magnitudes at the limits of the units of
// wide-range numbers, mixtures of finite and infinite bounds, zeros, penalties in place of zeros, large factors that
// cancel.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "support/quad_truth.hpp"
#include "support/trials.hpp"
#include "treesample/math/log_bounds.hpp"
#include "treesample/math/random.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/model/log_value.hpp"

namespace treesample::testing {

enum class Regime { kOrdinary, kUnitEnds, kLarge, kNearZero, kCancelling, kClose };
inline constexpr int kNumRegimes = 6;

inline double random_log_value(Random& random, Regime regime) {
  constexpr double kUnitNats = 768 * 0.69314718055994530942;
  switch (regime) {
    case Regime::kOrdinary:
      return random.normal();
    case Regime::kUnitEnds:
      return kUnitNats * (below(random, 5) - 2 + 0.5) + 3.0 * random.normal() + (below(random, 3) - 1) * 128.0;
    case Regime::kLarge:
      return std::pow(10.0, 1.0 + 3.0 * random.uniform()) * random.normal();
    case Regime::kNearZero:
      return random.uniform() < 0.7 ? random.normal() : -std::pow(10.0, 2.0 + 10.0 * random.uniform());
    case Regime::kCancelling:
      return random.normal();
    case Regime::kClose:
      return 1e-12 * random.normal();
  }
  return 0.0;
}

struct TortureModel {
  FactorGraph graph;
  std::string text;  // for messages
  std::vector<Quad> log_densities;
  Quad log_z = 0;
  bool is_beyond_range = false;  // for wide numbers
  Quad other_log_z = 0;          // with every log-value changed by one unit in the last place, up or down

  [[nodiscard]] Quad least() const { return fminq(log_z, other_log_z); }
  [[nodiscard]] Quad most() const { return fmaxq(log_z, other_log_z); }
};

struct TortureOptions {
  int max_variables = 5;
  bool has_functions = true;
};

inline void add_random_factor(FactorGraph& graph, Random& random, std::vector<int> scope, std::vector<double> values,
                              bool may_be_function) {
  if (!may_be_function || random.uniform() < 0.5) {
    graph.add_table(std::move(scope), std::move(values));
    return;
  }
  std::vector<int> num_states;
  for (const int v : scope) num_states.push_back(graph.num_states(v));
  std::optional<double> log_max;
  if (random.uniform() < 0.5) log_max = *std::max_element(values.begin(), values.end());
  if (log_max == kNegInf) log_max.reset();
  graph.add_factor(Factor::function(
      std::move(scope),
      [num_states, values = std::move(values)](std::span<const int> states) {
        std::size_t index = 0;
        for (std::size_t i = 0; i < num_states.size(); ++i) {
          index = index * static_cast<std::size_t>(num_states[i]) + static_cast<std::size_t>(states[i]);
        }
        return values[index];
      },
      log_max));
}

inline TortureModel torture_model(Random& random, const TortureOptions& options = {}) {
  TortureModel model;
  const auto regime = static_cast<Regime>(below(random, kNumRegimes));
  const double zeros = std::vector<double>{0.0, 0.0, 0.1, 0.4, 0.8}[below(random, 5)];
  const bool may_have_functions = options.has_functions && random.uniform() < 0.5;
  const int num_variables = 1 + below(random, options.max_variables);
  for (int v = 0; v < num_variables; ++v) model.graph.add_variable(1 + below(random, 3));
  const int num_factors = 1 + below(random, 2 * num_variables + 1);
  for (int m = 0; m < num_factors; ++m) {
    std::vector<int> scope = random.permutation(num_variables);
    scope.resize(static_cast<std::size_t>(std::min(below(random, 4), num_variables)));
    std::size_t num_entries = 1;
    for (const int v : scope) num_entries *= static_cast<std::size_t>(model.graph.num_states(v));
    std::vector<double> values(num_entries), opposite(num_entries);
    const double scale = std::pow(10.0, 2.0 + 9.0 * random.uniform());
    model.is_beyond_range = model.is_beyond_range || (regime == Regime::kCancelling && scale > 1e6);
    for (std::size_t i = 0; i < num_entries; ++i) {
      values[i] = random.uniform() < zeros ? kNegInf : random_log_value(random, regime);
      opposite[i] = scale * random.normal();
      if (regime == Regime::kCancelling) values[i] -= opposite[i];
    }
    const auto is_too_large = [](double value) { return value > kMaxLogValue; };
    const bool may_be_function = may_have_functions && !scope.empty() &&
                                 std::none_of(values.begin(), values.end(), is_too_large) &&
                                 std::none_of(opposite.begin(), opposite.end(), is_too_large);
    add_random_factor(model.graph, random, scope, std::move(values), may_be_function);
    if (regime == Regime::kCancelling)
      add_random_factor(model.graph, random, scope, std::move(opposite), may_be_function);
  }
  model.text = "regime " + std::to_string(static_cast<int>(regime)) + ", zeros " + std::to_string(zeros);
  const auto as_it_is = [&](int m, std::span<const int> states) { return log_value_of(model.graph, m, states); };
  model.log_densities = quad_log_densities(model.graph, as_it_is);
  model.log_z = quad_log_sum_exp(model.log_densities);
  // All in one direction, or each in its own direction, which is the same at every call.
  const int way = below(random, 3);
  const auto off_by_one = [&](int m, std::span<const int> states) {
    const double value = as_it_is(m, states);
    if (value == kNegInf) return value;
    std::size_t hash = static_cast<std::size_t>(m) * 7919 + 13;
    for (const int state : states) hash = hash * 31 + static_cast<std::size_t>(state);
    const bool is_up = way == 0 || (way == 2 && (hash >> 2) % 2 == 0);
    // One unit of the number and one of its logarithm.
    return std::nextafter(value + (is_up ? 0x1.0p-53 : -0x1.0p-53), is_up ? HUGE_VAL : -HUGE_VAL);
  };
  model.other_log_z = quad_log_sum_exp(quad_log_densities(model.graph, off_by_one));
  return model;
}

inline void expect_contains(const LogBounds& bounds, const TortureModel& model) {
  EXPECT_LE(static_cast<Quad>(bounds.lower), model.least());
  EXPECT_GE(static_cast<Quad>(bounds.upper), model.most());
}

}  // namespace treesample::testing
