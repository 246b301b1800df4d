#include <algorithm>
#include <cmath>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/value/leaf_value.hpp"

namespace treesample {
namespace {

// The log-value that replaces -inf in the updates. It is far below any finite factor, so that states which need a zero
// of the model die out, but it is still a number.
constexpr double kZeroCost = -1e6;
constexpr double kLeastProbability = 1e-9;

// gradient[a] += E_q[psi | x_v = a] for a variable v of the factor's scope.
void add_expectation(const FactorGraph& graph, const Factor& factor, int v, const LocalDistributions& q,
                     std::vector<double>& gradient) {
  std::vector<int> states(factor.scope().size(), 0);
  for (const double entry : factor.log_values()) {
    double weight = 1.0;
    int own = 0;
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (factor.scope()[i] == v) {
        own = states[i];
      } else {
        weight *= q[factor.scope()[i]][states[i]];
      }
    }
    if (weight > 0.0) gradient[own] += weight * std::max(entry, kZeroCost);
    for (std::size_t i = states.size(); i-- > 0 && ++states[i] == graph.num_states(factor.scope()[i]);) states[i] = 0;
  }
}

}  // namespace

LocalDistributions mean_field(const FactorGraph& graph, int sweeps, std::uint64_t seed, const ShouldStop& should_stop) {
  check_argument(graph.has_only_tables(), "mean_field", "needs a model in which every factor is a table");
  check_range("mean_field", "sweeps", sweeps, 0, 1'000'000);
  Random random(seed, "mean field");
  LocalDistributions q = uniform_distributions(graph);
  for (std::vector<double>& probs : q) {
    for (double& p : probs) p *= 1.0 + 0.01 * random.uniform();  // breaks the symmetry of symmetric models
    double sum = 0.0;
    for (const double p : probs) sum += p;
    for (double& p : probs) p /= sum;
  }
  std::vector<std::vector<int>> factors_of(graph.num_variables());
  for (int m = 0; m < graph.num_factors(); ++m) {
    for (const int v : graph.factor(m).scope()) factors_of[v].push_back(m);
  }
  StopCheck stop(should_stop);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    if (sweep > 0 && should_stop && should_stop()) break;
    for (int v = 0; v < graph.num_variables(); ++v) {
      std::int64_t num_steps = 1;
      for (const int m : factors_of[v]) num_steps += static_cast<std::int64_t>(4 * graph.factor(m).log_values().size());
      if (stop.is_asked(num_steps)) break;
      std::vector<double> gradient(graph.num_states(v), 0.0);
      for (const int m : factors_of[v]) add_expectation(graph, graph.factor(m), v, q, gradient);
      softmax(gradient, q[v]);
    }
  }
  for (std::vector<double>& probs : q) {
    double sum = 0.0;
    for (double& p : probs) sum += p = p < kLeastProbability ? 0.0 : p;
    for (double& p : probs) p /= sum;
  }
  return q;
}

}  // namespace treesample
