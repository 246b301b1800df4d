#include "annealing/coverage.hpp"

#include <cmath>
#include <functional>
#include <utility>

#include "treesample/evaluate/annealed_importance.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample::experiments {
namespace {

FactorGraph variables(int count, int num_states) {
  FactorGraph graph;
  for (int v = 0; v < count; ++v) graph.add_variable(num_states);
  return graph;
}

void add_normal(FactorGraph& graph, std::vector<int> scope, std::size_t size, double deviation, Random& random) {
  std::vector<double> values(size);
  for (double& value : values) value = deviation * random.normal();
  graph.add_table(std::move(scope), std::move(values));
}

FactorGraph glass(Random& random) {
  FactorGraph graph = variables(10, 2);
  for (int i = 0; i < 10; ++i) {
    add_normal(graph, {i}, 2, 0.3, random);
    for (int j = 0; j < i; ++j) add_normal(graph, {j, i}, 4, 1.0, random);
  }
  return graph;
}

FactorGraph boltzmann(Random& random) {
  FactorGraph graph = variables(10, 2);
  for (int i = 0; i < 10; ++i) add_normal(graph, {i}, 2, 0.5, random);
  for (int i = 0; i < 5; ++i) {
    for (int j = 5; j < 10; ++j) graph.add_table({i, j}, {0.0, 0.0, 0.0, 2.0 * random.normal()});
  }
  return graph;
}

FactorGraph potts(Random& random) {
  FactorGraph graph = variables(9, 3);
  for (int v = 0; v < 9; ++v) {
    add_normal(graph, {v}, 3, 0.3, random);
    std::vector<double> equal(9, 0.0);
    equal[0] = equal[4] = equal[8] = 1.3;
    if (v % 3 < 2) graph.add_table({v, v + 1}, equal);
    if (v < 6) graph.add_table({v, v + 3}, equal);
  }
  return graph;
}

// Parities with noise elsewhere: half of the states of each three variables are impossible.
FactorGraph impossible(Random& random) {
  FactorGraph graph = variables(9, 2);
  for (int v = 0; v < 9; ++v) add_normal(graph, {v}, 2, 0.7, random);
  for (const std::vector<int>& scope : {std::vector<int>{0, 1, 2}, {2, 3, 4}, {4, 5, 6}, {1, 6, 7}}) {
    std::vector<double> values;
    for (int entry = 0; entry < 8; ++entry) {
      const bool is_odd = ((entry & 1) + ((entry >> 1) & 1) + (entry >> 2)) % 2 == 1;
      values.push_back(is_odd ? kNegInf : random.normal());
    }
    graph.add_table(scope, std::move(values));
  }
  return graph;
}

// One configuration of 256 has a third of the mass, and nothing nearby leads to it.
FactorGraph peak(Random& random) {
  FactorGraph graph = variables(8, 2);
  for (int v = 0; v < 8; ++v) add_normal(graph, {v}, 2, 0.2, random);
  std::vector<double> values(256, 0.0);
  values[0b10110100] = std::log(128.0);
  graph.add_table({0, 1, 2, 3, 4, 5, 6, 7}, std::move(values));
  return graph;
}

}  // namespace

const std::vector<AnnealedKind>& annealed_kinds() {
  static const std::vector<AnnealedKind> kinds = [] {
    std::vector<AnnealedKind> made;
    const auto add = [&](const char* name, FactorGraph (*make)(Random&), int num_temperatures) {
      Random random(1, std::string("annealed ") + name);
      FactorGraph graph = make(random);
      Enumeration exact = enumerate(graph);
      made.push_back({name, std::move(graph), std::move(exact), num_temperatures});
    };
    add("glass", glass, 4);
    add("boltzmann", boltzmann, 3);
    add("potts", potts, 4);
    add("impossible states", impossible, 6);
    add("peak", peak, 3);
    return made;
  }();
  return kinds;
}

AnnealedInterval annealed_interval(const AnnealedKind& kind, double confidence, int num_chains, int num_samples,
                                   std::uint64_t seed) {
  const double error_probability = 0.5 * (1.0 - confidence);
  const AnnealedResult forward = annealed_importance(kind.graph, {.threads = 1},
                                                     {.num_temperatures = kind.num_temperatures,
                                                      .max_chains = num_chains,
                                                      .error_probability = error_probability,
                                                      .has_marginals = false,
                                                      .seed = seed});
  std::vector<double> probabilities;
  for (const double log_prob : kind.exact.log_probs) probabilities.push_back(std::exp(log_prob));
  Random random(seed, "exact samples");
  RejectionSamples exact;
  for (int i = 0; i < num_samples; ++i) {
    const auto index = static_cast<std::size_t>(random.categorical(probabilities));
    exact.samples.push_back(configuration_at(kind.graph, index));
  }
  const AnnealedUpper back =
      annealed_upper(*forward.path, exact, {.threads = 1}, {.error_probability = error_probability, .seed = seed});
  return {forward.report.log_lower, back.log_upper, forward.report.estimate};
}

}  // namespace treesample::experiments
