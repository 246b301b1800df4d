// The README's example: a chain of ten variables, searched with 1,000 evaluations.
#include <cstdio>

#include "treesample/treesample.hpp"

int main() {
  treesample::FactorGraph graph;
  for (int v = 0; v < 10; ++v) graph.add_variable(3);
  for (int v = 0; v + 1 < 10; ++v) {  // neighbours like to be equal, and states to be high
    graph.add_table({v, v + 1}, {1.0, 0.0, 0.0, 0.0, 1.2, 0.0, 0.0, 0.0, 1.4});
  }
  const treesample::SpaceKind kind = treesample::SpaceKind::kAndOr;
  const treesample::SearchSpace space =
      treesample::make_search_space(graph, treesample::search_order(graph, kind, {}), kind);
  const treesample::QUctResult result = treesample::q_uct_search(graph, space, {}, {.budget = 1000});
  std::printf("log Z = %.6f, exact: %s, after %lld evaluations\n", result.approximation->log_value(),
              result.approximation->is_exact() ? "yes" : "no",
              static_cast<long long>(result.report.spent.reward_evaluations));
  treesample::Random random(1);
  for (int i = 0; i < 3; ++i) {
    const treesample::Assignment x = result.approximation->sample(random);
    for (const int state : x) std::printf("%d ", state);
    std::printf("  log P = %.4f\n", result.approximation->log_prob(x));
  }
}
