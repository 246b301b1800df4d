// Factors of one's own that cost: they may be called 30 times and no more.
#include <iostream>
#include <treesample/treesample.hpp>

int main() {
  int num_calls = 0;
  treesample::FactorGraph graph;
  for (int v = 0; v < 12; ++v) graph.add_variable(2);
  for (int v = 0; v + 1 < 12; ++v) {
    graph.add_factor(treesample::Factor::function({v, v + 1}, [&num_calls](std::span<const int> states) {
      ++num_calls;
      return states[0] == states[1] ? 1.0 : -1.0;
    }));
  }
  const treesample::Answer answer =
      treesample::infer(graph, {.best = false, .samples = 1}, {.calls = 30}, {.importance = 0});
  std::cout << num_calls << " calls, log P of a sample " << answer.approximation->log_prob(answer.samples[0]) << "\n";
  return num_calls > 0 && num_calls <= 30 && answer.stop == treesample::StopReason::kBudget ? 0 : 1;
}
