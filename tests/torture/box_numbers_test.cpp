// Certified numbers from boxes of monotone functions against enumeration with 113 bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "support/quad_truth.hpp"
#include "support/trials.hpp"
#include "treesample/math/random.hpp"
#include "treesample/monotone/box_search.hpp"

namespace treesample {
namespace {

using testing::below;
using testing::num_trials;
using testing::Quad;

struct Truth {
  explicit Truth(const FactorGraph& graph) {
    log_densities = testing::quad_log_densities(
        graph, [&](int m, std::span<const int> states) { return testing::log_value_of(graph, m, states); });
    log_z = testing::quad_log_sum_exp(log_densities);
    for (const Quad value : log_densities) largest = fmaxq(largest, value);
    for (int v = 0; v < graph.num_variables(); ++v) {
      marginals.emplace_back(static_cast<std::size_t>(graph.num_states(v)), Quad{0});
    }
    std::size_t i = 0;
    testing::for_each_configuration(graph, [&](const Assignment& x) {
      const Quad p = expq(log_densities[i++] - log_z);
      for (std::size_t v = 0; v < x.size(); ++v) marginals[v][static_cast<std::size_t>(x[v])] += p;
    });
  }

  std::vector<Quad> log_densities;
  Quad log_z = 0, largest = -HUGE_VALQ;
  std::vector<std::vector<Quad>> marginals;
};

// Values over levels, which the direction turns into states; each value is at least those of the levels one below.
std::vector<double> increasing_values(Random& random, const std::vector<int>& num_states, double scale) {
  std::size_t size = 1;
  for (const int count : num_states) size *= static_cast<std::size_t>(count);
  const double step = std::pow(10.0, -15.0 + 18.0 * random.uniform());
  const double shift = random.uniform() < 0.3 ? 10.0 * scale * random.normal() : 0.0;
  const double zeros = random.uniform() < 0.5 ? 0.0 : random.uniform();
  std::vector<double> values(size);
  for (std::size_t i = 0; i < size; ++i) {
    values[i] = random.uniform() < zeros ? kNegInf : shift + step * random.normal();
    std::size_t stride = 1;
    for (auto count = num_states.rbegin(); count != num_states.rend(); ++count) {
      const auto states = static_cast<std::size_t>(*count);
      if (i / stride % states > 0) values[i] = std::max(values[i], values[i - stride]);
      stride *= states;
    }
  }
  return values;
}

Factor monotone_function(Random& random, const FactorGraph& graph, double scale) {
  std::vector<int> scope = random.permutation(graph.num_variables());
  scope.resize(static_cast<std::size_t>(1 + below(random, graph.num_variables())));
  std::vector<int> num_states;
  std::vector<Direction> directions;
  for (const int v : scope) {
    num_states.push_back(graph.num_states(v));
    directions.push_back(random.uniform() < 0.5 ? Direction::kIncreasing : Direction::kDecreasing);
  }
  const auto function = [=, values = increasing_values(random, num_states, scale)](std::span<const int> x) {
    std::size_t index = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const int level = directions[i] == Direction::kIncreasing ? x[i] : num_states[i] - 1 - x[i];
      index = index * static_cast<std::size_t>(num_states[i]) + static_cast<std::size_t>(level);
    }
    return values[index];
  };
  return Factor::function(scope, function).monotone(directions);
}

FactorGraph boxes_model(Random& random) {
  FactorGraph graph;
  const int num_variables = 1 + below(random, 5);
  const double scale = std::pow(10.0, -3.0 + 8.0 * random.uniform());
  const double zeros = random.uniform() < 0.4 ? 0.0 : 0.4 * random.uniform();
  for (int v = 0; v < num_variables; ++v) graph.add_variable(1 + below(random, 4));
  const auto add_table = [&](std::vector<int> scope) {
    std::size_t size = 1;
    for (const int v : scope) size *= static_cast<std::size_t>(graph.num_states(v));
    std::vector<double> values(size);
    for (double& value : values) value = random.uniform() < zeros ? kNegInf : scale * random.normal();
    graph.add_table(std::move(scope), std::move(values));
  };
  for (int v = 0; v < num_variables; ++v) {
    if (random.uniform() < 0.8) add_table({v});
    const int other = below(random, num_variables);
    if (random.uniform() < 0.3 && other != v) add_table({v, other});
  }
  const int num_functions = 1 + below(random, 3);
  for (int i = 0; i < num_functions; ++i) graph.add_factor(monotone_function(random, graph, scale));
  return graph;
}

void expect_certified(const FactorGraph& graph, const BoxResult& result, const Truth& truth) {
  EXPECT_LE(static_cast<Quad>(result.report.log_z.lower), truth.log_z);
  EXPECT_GE(static_cast<Quad>(result.report.log_z.upper), truth.log_z);
  EXPECT_GE(static_cast<Quad>(result.log_most), truth.largest);
  EXPECT_GE(result.report.estimate, result.report.log_z.lower);
  EXPECT_LE(result.report.estimate, result.report.log_z.upper);
  if (!result.approximation || isinfq(truth.log_z) != 0) return;
  for (int v = 0; v < graph.num_variables(); ++v) {
    for (int s = 0; s < graph.num_states(v); ++s) {
      EXPECT_GE(result.marginals[v][s], 0.0);
      EXPECT_LE(result.marginals[v][s], 1.0);
      EXPECT_LE(fabsq(static_cast<Quad>(result.marginals[v][s]) - truth.marginals[v][s]),
                static_cast<Quad>(result.marginal_errors[v]) + static_cast<Quad>(1e-28));
    }
  }
}

TEST(Torture, BoundsFromBoxesHold) {
  Random random(1, "box torture");
  for (int trial = 0; trial < num_trials(1000); ++trial) {
    const FactorGraph graph = boxes_model(random);
    const Truth truth(graph);
    for (const double sample_share : {0.0, 0.5}) {
      const int budget = below(random, 40);
      SCOPED_TRACE(::testing::Message() << "trial " << trial << ", budget " << budget << ", samples " << sample_share);
      const BoxSearchOptions options{.seed = static_cast<std::uint64_t>(trial), .sample_share = sample_share};
      expect_certified(graph, box_search(graph, {.budget = budget, .unit = BudgetUnit::kCall}, options), truth);
    }
    const BoxResult solved = box_search(graph, {}, {.sample_share = 0.0});
    expect_certified(graph, solved, truth);
    EXPECT_TRUE(solved.report.stop == StopReason::kExact || solved.report.stop == StopReason::kRounding);
    EXPECT_EQ(solved.approximation == nullptr, isinfq(truth.log_z) != 0);
  }
}

// Functions whose large values cancel: the rest is known only to the rounding of the large ones.
TEST(Torture, BoxesOfFunctionsThatCancel) {
  Random random(2, "box torture");
  for (int trial = 0; trial < num_trials(100); ++trial) {
    FactorGraph graph;
    graph.add_variable(2);
    const double large = std::pow(10.0, 4.0 + 3.0 * random.uniform());
    for (const double shift : {-large, random.normal(), large * (1.0 + 1e-5 * random.uniform())}) {
      const double value = shift + random.uniform();
      graph.add_factor(Factor::function({0}, [=](std::span<const int> x) {
                         return value + x[0];
                       }).monotone({Direction::kIncreasing}));
    }
    SCOPED_TRACE(::testing::Message() << "trial " << trial);
    expect_certified(graph, box_search(graph, {}, {.sample_share = 0.0}), Truth(graph));
  }
}

// Calls are off by up to 9e-5, which is within the rounding of values of 1e6 that a simulator may have.
struct NoisyModel {
  static constexpr int kNumVariables = 7, kNumConfigurations = 1 << kNumVariables;

  NoisyModel(Random& random, double table_scale) : values(kNumConfigurations) {
    std::vector<double> weights;
    for (int v = 0; v < kNumVariables; ++v) {
      tables.add_variable(2);
      tables.add_table({v}, {0.0, table_scale * random.normal()});
      weights.push_back(random.uniform());
    }
    const double step = 1.0 + 4.0 * random.uniform(), grid = 0.3 + random.uniform();
    for (int i = 0; i < kNumConfigurations; ++i) {
      double sum = 0.0;
      for (int v = 0; v < kNumVariables; ++v) sum += (i >> v & 1) * weights[v];
      values[i] = -1e6 + step * std::floor(sum / grid);
    }
  }

  // Keeps a reference to this.
  FactorGraph graph() {
    FactorGraph result = tables;
    std::vector<int> scope;
    for (int v = 0; v < kNumVariables; ++v) scope.push_back(v);
    const auto function = [this](std::span<const int> x) {
      int i = 0;
      for (int v = 0; v < kNumVariables; ++v) i |= x[v] << v;
      asked.push_back(i);
      return values[i];
    };
    result.add_factor(
        Factor::function(scope, function).monotone(std::vector<Direction>(kNumVariables, Direction::kIncreasing)));
    return result;
  }

  FactorGraph tables;
  std::vector<double> values;
  std::vector<int> asked;
};
constexpr double kNoise = 0.9e-4;

// The noise shows only after boxes have been cut once: what was kept from then is off by it too.
TEST(Torture, BoundsFromEarlierBoxesKnowLaterNoise) {
  Random random(3, "box torture");
  for (int trial = 0; trial < num_trials(100); ++trial) {
    NoisyModel model(random, 4.0);
    const FactorGraph graph = model.graph();
    const BoxSearchOptions options{.seed = 1, .sample_share = 0.0};
    box_search(graph, {}, options);
    constexpr std::size_t kEarly = 4 * NoisyModel::kNumVariables;
    if (model.asked.size() <= kEarly) continue;
    const std::set<int> early(model.asked.begin(), model.asked.begin() + kEarly);
    for (int i = 0; i < NoisyModel::kNumConfigurations; ++i) model.values[i] -= early.contains(i) ? 0.0 : kNoise;
    const BoxResult result = box_search(graph, {}, options);
    if (result.report.noise < 0.8 * kNoise) continue;  // not seen: the values that were asked are monotone
    SCOPED_TRACE(::testing::Message() << "trial " << trial);
    expect_certified(graph, result, Truth(graph));
  }
}

TEST(Torture, IntervalsFromBoxesKnowTheNoise) {
  Random random(4, "box torture");
  int num_missed = 0, num_intervals = 0;
  for (int trial = 0; trial < num_trials(100); ++trial) {
    NoisyModel model(random, 8.0);
    for (double& value : model.values) value -= kNoise * random.uniform();
    const FactorGraph graph = model.graph();
    const BoxResult result = box_search(graph, {.budget = 40, .unit = BudgetUnit::kCall},
                                        {.seed = static_cast<std::uint64_t>(trial), .sample_share = 0.5});
    if (!result.report.samples) continue;
    const Quad log_z = Truth(graph).log_z;
    const LogBounds& interval = result.report.samples->interval;
    ++num_intervals;
    num_missed += log_z < static_cast<Quad>(interval.lower) || log_z > static_cast<Quad>(interval.upper) ? 1 : 0;
  }
  ASSERT_GT(num_intervals, num_trials(50));
  EXPECT_LE(num_missed, num_intervals / 10);  // 5 % may miss
}

}  // namespace
}  // namespace treesample
