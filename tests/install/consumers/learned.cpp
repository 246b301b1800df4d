// A function of twelve variables that may be called 40 times: it is learned, by a method of treesample-calls.
#include <iostream>
#include <treesample/treesample.hpp>

int main() {
  int num_calls = 0;
  treesample::FactorGraph graph;
  std::vector<int> scope;
  for (int v = 0; v < 12; ++v) scope.push_back(graph.add_variable(2));
  graph.add_factor(treesample::Factor::function(scope, [&num_calls](std::span<const int> states) {
    ++num_calls;
    double sum = 0.0;
    for (const int state : states) sum += 0.3 * state;
    return sum;
  }));
  const treesample::Answer answer =
      treesample::infer(graph, {}, {.calls = 40}, {.method = treesample::Method::kLearned});
  std::cout << num_calls << " calls: " << answer.method << "\n";
  return num_calls > 0 && num_calls <= 40 && answer.log_z ? 0 : 1;
}
