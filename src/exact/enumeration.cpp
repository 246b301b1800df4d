#include "treesample/exact/enumeration.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// The number of configurations; throws an Error that names it where it is too large.
std::size_t checked_num_configurations(const FactorGraph& graph) {
  std::int64_t count = 1;
  for (int v = 0; v < graph.num_variables(); ++v) {
    count *= graph.num_states(v);
    if (count > kMaxEnumeratedConfigurations) {
      throw Error(ErrorCode::kResource,
                  fmt::format("enumerate: the model has 2^{:.1f} configurations, allowed are up to {}",
                              graph.log_num_configurations() / std::numbers::ln2, kMaxEnumeratedConfigurations));
    }
  }
  return static_cast<std::size_t>(count);
}

void advance(const FactorGraph& graph, Assignment& x) {
  for (int v = graph.num_variables() - 1; v >= 0; --v) {
    if (++x[v] < graph.num_states(v)) return;
    x[v] = 0;
  }
}

}  // namespace

Enumeration enumerate(const FactorGraph& graph) {
  Enumeration result;
  result.log_probs.resize(checked_num_configurations(graph));
  Assignment x(static_cast<std::size_t>(graph.num_variables()), 0);
  for (double& log_prob : result.log_probs) {
    log_prob = graph.log_density(x);
    advance(graph, x);
  }
  result.log_z = log_sum_exp(result.log_probs);
  for (int v = 0; v < graph.num_variables(); ++v) {
    result.marginals.emplace_back(static_cast<std::size_t>(graph.num_states(v)), 0.0);
  }
  if (result.log_z == kNegInf) return result;  // marginals would be -inf - -inf
  for (double& log_prob : result.log_probs) {
    log_prob -= result.log_z;
    const double probability = std::exp(log_prob);
    for (int v = 0; v < graph.num_variables(); ++v) result.marginals[v][x[v]] += probability;
    advance(graph, x);
  }
  return result;
}

std::size_t configuration_index(const FactorGraph& graph, std::span<const int> x) {
  graph.check_assignment(x, "configuration_index");
  std::size_t index = 0;
  for (int v = 0; v < graph.num_variables(); ++v) {
    index = index * static_cast<std::size_t>(graph.num_states(v)) + static_cast<std::size_t>(x[v]);
  }
  return index;
}

Assignment configuration_at(const FactorGraph& graph, std::size_t index) {
  Assignment x(static_cast<std::size_t>(graph.num_variables()), 0);
  for (int v = graph.num_variables() - 1; v >= 0; --v) {
    const auto num_states = static_cast<std::size_t>(graph.num_states(v));
    x[v] = static_cast<int>(index % num_states);
    index /= num_states;
  }
  return x;
}

}  // namespace treesample
