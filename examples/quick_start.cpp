// The README's example: a chain of ten variables, answered exactly, and three samples.
#include <cstdio>

#include "treesample/treesample.hpp"

int main() {
  treesample::FactorGraph graph;
  for (int v = 0; v < 10; ++v) graph.add_variable(3);
  // Tables hold logarithms: neighbours like to be equal, and states to be high.
  for (int v = 0; v + 1 < 10; ++v) graph.add_table({v, v + 1}, {1.0, 0.0, 0.0, 0.0, 1.2, 0.0, 0.0, 0.0, 1.4});
  const treesample::Answer answer = treesample::infer(graph, {.samples = 3}, {.seconds = 10});
  std::printf("log Z = %.6f, certified to %.0e; %s\n", *answer.log_z, *answer.upper - *answer.lower,
              answer.method.c_str());
  std::printf("P(x0 = 2) = %.6f\n", answer.marginals[0][2]);
  for (std::size_t i = 0; i < answer.samples.size(); ++i) {
    for (const int state : answer.samples[i]) std::printf("%d ", state);
    std::printf("  log P = %.4f\n", answer.sample_log_probs[i]);
  }
}
