#include "treesample/evaluate/divergence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "evaluate/sampled_density.hpp"
#include "math/compensated_sum.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/derivatives.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/q_uct_search.hpp"

namespace treesample {
namespace {

struct MeanAndError {
  double mean = 0.0;
  double error = 0.0;
};

// A single value of -inf makes the mean exactly -inf.
MeanAndError mean_and_error(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  MeanAndError result;
  for (const double value : values) result.mean += value / count;
  if (result.mean == kNegInf) return result;
  double squared_deviation = 0.0;
  for (const double value : values) squared_deviation += (value - result.mean) * (value - result.mean);
  result.error = values.size() > 1 ? std::sqrt(squared_deviation / (count * (count - 1.0)))
                                   : std::numeric_limits<double>::infinity();
  return result;
}

// The sum of logarithms is accurate enough, because the threshold is half a configuration away.
bool has_at_most(const FactorGraph& graph, std::int64_t num_configurations) {
  return graph.log_num_configurations() < std::log(static_cast<double>(num_configurations) + 0.5);
}

void check_is_distribution(bool is_distribution, const char* function) {
  check_argument(is_distribution, function, "no configuration has positive probability (Z = 0)");
}

// Returns the value, which is missing only if Z = 0.
template <class T>
T value_of(std::optional<T> value, const char* function) {
  check_is_distribution(value.has_value(), function);
  return value ? *std::move(value) : T();
}

}  // namespace

Divergence divergence(const FactorGraph& graph, const Approximation& approximation, const DivergenceOptions& options,
                      Random& random) {
  if (const StoreApproximation* const store = approximation.as_store()) {
    if (auto exact = store_divergence(graph, *store, options.max_function_entries)) return *exact;
  }
  if (has_at_most(graph, options.max_configurations)) return enumerated_divergence(graph, approximation);
  return sampled_divergence(graph, approximation, options.num_samples, random);
}

std::pair<double, double> Divergence::total_variation(double log_z) const {
  std::vector<double> excesses;
  for (const double ratio : log_ratios) excesses.push_back(std::max(0.0, 1.0 - std::exp(ratio - log_z)));
  const MeanAndError excess = mean_and_error(excesses);
  return {excess.mean, excess.error};
}

Divergence enumerated_divergence(const FactorGraph& graph, const Approximation& approximation) {
  if (!has_at_most(graph, kMaxEnumeratedConfigurations)) {
    throw Error(ErrorCode::kResource,
                fmt::format("enumerated_divergence: the model has 2^{:.1f} configurations, allowed are up to {}",
                            graph.log_num_configurations() / std::numbers::ln2, kMaxEnumeratedConfigurations));
  }
  const auto count = static_cast<std::size_t>(std::llround(std::exp(graph.log_num_configurations())));
  Divergence result;
  result.is_exact = true;
  bool is_distribution = false;
  for (std::size_t i = 0; i < count; ++i) {
    const Assignment x = configuration_at(graph, i);
    const double log_prob = approximation.log_prob(x);
    if (log_prob == kNegInf) continue;
    is_distribution = true;
    const double probability = std::max(std::exp(log_prob), std::numeric_limits<double>::min());  // see kLeastReach
    result.energy += probability * charged_log_density(graph, x, result.spent);
    result.entropy -= probability * log_prob;
  }
  check_is_distribution(is_distribution, "enumerated_divergence");
  result.delta_kl = -result.energy - result.entropy;
  return result;
}

Divergence sampled_divergence(const FactorGraph& graph, const Approximation& approximation, int num_samples,
                              Random& random) {
  check_range("sampled_divergence", "num_samples", num_samples, 1, INT32_MAX);
  Divergence result;
  std::vector<double> energies;
  std::vector<double> log_probs;
  std::vector<double> elbos;  // log gamma_hat - log P_X, whose mean is -delta_KL
  for (int i = 0; i < num_samples; ++i) {
    const Assignment x = value_of(sample_if_possible(approximation, random), "sampled_divergence");
    energies.push_back(charged_log_density(graph, x, result.spent));
    log_probs.push_back(approximation.log_prob(x));
    elbos.push_back(energies.back() - log_probs.back());
  }
  const MeanAndError energy = mean_and_error(energies);
  const MeanAndError log_prob = mean_and_error(log_probs);
  result.energy = energy.mean;
  result.energy_error = energy.error;
  result.entropy = -log_prob.mean;
  result.entropy_error = log_prob.error;
  result.delta_kl = -result.energy - result.entropy;
  result.delta_kl_error = mean_and_error(elbos).error;
  result.num_samples = num_samples;
  result.log_ratios = std::move(elbos);
  return result;
}

namespace {

TargetMoments searched_moments(const FactorGraph& graph, const SearchSpace& space) {
  const QUctResult search = q_uct_search(graph, space, {}, {});
  if (!search.approximation->is_exact()) {
    throw Error(ErrorCode::kResource,
                fmt::format("target_moments: the search ended by its limit of {}", to_string(search.report.stop)));
  }
  check_is_distribution(search.approximation->log_value() != kNegInf, "target_moments");
  const Divergence moments = value_of(store_divergence(graph, *search.approximation), "target_moments");
  return {search.report.estimate, moments.energy, moments.entropy};
}

// With theta = exp psi_m(x_S), the probability of x_S is theta (dZ / dtheta) / Z.
TargetMoments eliminated_moments(const FactorGraph& graph, const EliminationPlan& plan) {
  const TableDerivatives found = table_derivatives(graph, {}, {}, plan);
  check_is_distribution(found.log_z != kNegInf, "target_moments");
  CompensatedSum energy;
  for (int m = 0; m < graph.num_factors(); ++m) {
    const std::span<const double> values = graph.factor(m).log_values();
    for (std::size_t e = 0; e < values.size(); ++e) {
      if (values[e] == kNegInf) continue;
      energy.add(values[e] * std::exp(values[e] + found.log_derivatives[m][e] - found.log_z));
    }
  }
  return {found.log_z, energy.value(), found.log_z - energy.value()};
}

}  // namespace

TargetMoments target_moments(const FactorGraph& graph, double max_evaluations, double max_entries) {
  const SearchSpace space =
      make_search_space(graph, search_order(graph, SpaceKind::kAndOr, OrderOptions{}), SpaceKind::kAndOr);
  if (space.log_exact_cost() <= std::log(max_evaluations)) return searched_moments(graph, space);
  const std::string searched =
      fmt::format("a complete search takes 10^{:.1f} reward evaluations, allowed are 10^{:.1f}",
                  space.log_exact_cost() / std::numbers::ln10, std::log10(max_evaluations));
  if (!graph.has_only_tables()) {
    throw Error(ErrorCode::kResource, fmt::format("target_moments: {}, and elimination needs tables", searched));
  }
  const EliminationPlan plan = plan_elimination(graph);
  if (!(plan.num_entries <= max_entries)) {
    throw Error(ErrorCode::kResource,
                fmt::format("target_moments: {}; elimination takes 10^{:.1f} table entries, allowed are 10^{:.1f}",
                            searched, std::log10(plan.num_entries), std::log10(max_entries)));
  }
  return eliminated_moments(graph, plan);
}

}  // namespace treesample
