#include "treesample/reduce/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
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

std::string weights_problem(std::span<const double> weights, int num_states) {
  if (std::ssize(weights) != num_states) {
    return fmt::format("{} weights for {} states", weights.size(), num_states);
  }
  for (const double weight : weights) {
    // A decimal number below the normal range loses digits when it becomes a double.
    const bool is_normal = weight == 0.0 || weight >= std::numeric_limits<double>::min();
    if (!(is_normal && std::isfinite(weight)))
      return fmt::format("a weight is {}, allowed are {}", weight, kAllowedWeights);
  }
  if (std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 0.0; })) {
    return "all weights are 0";
  }
  return "";
}

FactorGraph with_soft_evidence(FactorGraph graph, const SoftEvidence& soft) {
  constexpr const char* kFunction = "with_soft_evidence";
  for (const SoftObservation& seen : soft) {
    check_range(kFunction, "observed variable", seen.variable, 0, graph.num_variables() - 1);
    if (const std::string problem = weights_problem(seen.weights, graph.num_states(seen.variable)); !problem.empty()) {
      throw_argument(kFunction, fmt::format("variable {}: {}", seen.variable, problem));
    }
    std::vector<double> log_weights;
    for (const double weight : seen.weights) log_weights.push_back(std::log(weight));
    graph.add_table({seen.variable}, std::move(log_weights));
  }
  return graph;
}

}  // namespace treesample
