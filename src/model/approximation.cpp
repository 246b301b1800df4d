#include "treesample/model/approximation.hpp"

#include "treesample/error.hpp"

namespace treesample {

Marginals sampled_marginals(const Approximation& approximation, const FactorGraph& graph, int num_samples,
                            Random& random) {
  check_range("sampled_marginals", "num_samples", num_samples, 1, INT32_MAX);
  Marginals marginals;
  for (int v = 0; v < graph.num_variables(); ++v) marginals.emplace_back(graph.num_states(v), 0.0);
  for (int i = 0; i < num_samples; ++i) {
    const Assignment x = approximation.sample(random);
    graph.check_assignment(x, "sampled_marginals");
    for (int v = 0; v < graph.num_variables(); ++v) marginals[v][x[v]] += 1.0 / num_samples;
  }
  return marginals;
}

}  // namespace treesample
