// A factor of one's own that costs: the search may call it 100 times and no more.
#include <cmath>
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
  const auto kind = treesample::SpaceKind::kTree;
  const auto space = treesample::make_search_space(graph, treesample::search_order(graph, kind, {}), kind);
  const auto result =
      treesample::q_uct_search(graph, space, {}, {.budget = 100, .unit = treesample::BudgetUnit::kFactor});
  treesample::Random random(1);
  const treesample::Assignment x = result.approximation->sample(random);
  std::cout << num_calls << " calls, log P of a sample " << result.approximation->log_prob(x) << "\n";
  return num_calls > 0 && num_calls <= 100 && result.report.stop == treesample::StopReason::kBudget ? 0 : 1;
}
