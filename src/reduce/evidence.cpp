#include "treesample/reduce/evidence.hpp"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "treesample/error.hpp"

namespace treesample {

Assignment observed_states(const FactorGraph& graph, const Evidence& evidence) {
  Assignment observed(static_cast<std::size_t>(graph.num_variables()), -1);
  for (const auto& [variable, state] : evidence) {
    check_range("condition", "observed variable", variable, 0, graph.num_variables() - 1);
    check_range("condition", fmt::format("observed state of variable {}", variable), state, 0,
                graph.num_states(variable) - 1);
    int& known = observed[variable];
    if (known >= 0 && known != state) {
      throw_argument("condition",
                     fmt::format("variable {} is observed in state {} and in state {}", variable, known, state));
    }
    known = state;
  }
  return observed;
}

ReducedModel condition(const FactorGraph& graph, const Evidence& evidence) {
  const Assignment observed = observed_states(graph, evidence);
  std::vector<std::vector<int>> left(observed.size());
  std::vector<char> is_fixed(observed.size(), 0);
  for (int v = 0; v < graph.num_variables(); ++v) {
    if (observed[v] >= 0) {
      left[v] = {observed[v]};
      is_fixed[v] = 1;
    } else {
      left[v].resize(static_cast<std::size_t>(graph.num_states(v)));
      std::iota(left[v].begin(), left[v].end(), 0);
    }
  }
  return restrict_model(graph, std::move(left), is_fixed);
}

}  // namespace treesample
