// An exact answer: log Z, marginals and the most probable configuration of a chain.
#include <cmath>
#include <iostream>
#include <treesample/treesample.hpp>

int main() {
  treesample::FactorGraph graph;
  for (int v = 0; v < 10; ++v) graph.add_variable(2);
  for (int v = 0; v + 1 < 10; ++v)
    graph.add_table({v, v + 1}, {std::log(0.9), std::log(0.1), std::log(0.2), std::log(0.8)});
  const treesample::Answer answer = treesample::infer(graph);
  std::cout << "log Z " << *answer.log_z << ", P(last = 0) " << answer.marginals[9][0] << "\n";
  if (!answer.is_exact || !answer.best || answer.is_best_optimal != true) return 1;
  std::cout << "the most probable configuration has log density " << answer.best->log_density << "\n";
  // Each row of the table sums to 1, and the first variable is free: Z = 2.
  return std::abs(*answer.log_z - std::log(2.0)) < 1e-12 ? 0 : 1;
}
