// Random problems for graph networks.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "support/nn_reference.hpp"
#include "treesample/math/random.hpp"
#include "treesample/nn/gnn.hpp"

namespace treesample::test {

// Random factors of arity 1 to 4 and of three kinds over variables of 2 and 3 states; tables contain -inf too.
inline KindedGraph random_graph(int num_variables, int num_factors, Random& random) {
  KindedGraph model;
  for (int v = 0; v < num_variables; ++v) model.graph.add_variable(v % 3 == 2 ? 3 : 2);
  const std::vector<std::string> kinds = {"not", "majority", "table"};
  for (int m = 0; m < num_factors; ++m) {
    std::vector<int> scope = random.permutation(num_variables);
    scope.resize(1 + random.below(4));
    std::size_t entries = 1;
    for (const int v : scope) entries *= static_cast<std::size_t>(model.graph.num_states(v));
    std::vector<double> values(entries);
    for (double& value : values) value = random.uniform() < 0.1 ? -HUGE_VAL : random.normal();
    model.graph.add_table(scope, values);
    model.kinds.push_back(kinds[m % 3]);
  }
  return model;
}

inline GnnOptions three_kinds(int iterations = 4) {
  return {.kinds = {"not", "majority", "table"}, .num_states = 3, .iterations = iterations};
}

inline std::vector<int> random_prefix(const FactorGraph& graph, double share, Random& random) {
  std::vector<int> states;
  for (int v = 0; v < graph.num_variables(); ++v) {
    const int state = static_cast<int>(random.below(static_cast<std::uint64_t>(graph.num_states(v))));
    states.push_back(random.uniform() < share ? state : -1);
  }
  return states;
}

struct Batch {
  std::vector<GnnPlan> plans;
  std::vector<KindedGraph> models;
  std::vector<std::vector<int>> states;
  std::vector<std::vector<float>> targets;
  std::vector<GnnSample> samples;
};

// Samples from three graphs of `size` variables and more; some targets are -inf.
inline Batch random_batch(const GnnOptions& options, int count, Random& random, int size = 4) {
  Batch batch;
  for (int g = 0; g < 3; ++g) {
    batch.models.push_back(random_graph(size + g, size + 2 * g, random));
    batch.plans.emplace_back(batch.models.back().graph, batch.models.back().kinds, options);
  }
  batch.states.resize(static_cast<std::size_t>(count));
  batch.targets.resize(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const FactorGraph& graph = batch.models[i % 3].graph;
    const int variable = static_cast<int>(random.below(static_cast<std::uint64_t>(graph.num_variables())));
    batch.states[i] = random_prefix(graph, 0.5, random);
    batch.states[i][variable] = -1;
    for (int a = 0; a < graph.num_states(variable); ++a) {
      batch.targets[i].push_back(i == 1 && a == 0 ? -HUGE_VALF : static_cast<float>(2.0 * random.normal()));
    }
    batch.samples.push_back(
        {.plan = &batch.plans[i % 3], .states = batch.states[i], .variable = variable, .target = batch.targets[i]});
  }
  return batch;
}

}  // namespace treesample::test
