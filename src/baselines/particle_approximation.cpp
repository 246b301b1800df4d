#include "treesample/baselines/particle_approximation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr const char* kFunction = "ParticleApproximation";

}  // namespace

ParticleApproximation::ParticleApproximation(const FactorGraph& graph, const Particles& particles) {
  const std::size_t width = graph.num_variables();
  for (int v = 0; v < graph.num_variables(); ++v) num_states_.push_back(graph.num_states(v));
  const std::size_t num_rows = particles.log_weights.size();
  check_argument(particles.states.size() == num_rows * width && particles.log_densities.size() == num_rows, kFunction,
                 fmt::format("{} states and {} densities for {} weights of {} variables", particles.states.size(),
                             particles.log_densities.size(), num_rows, width));
  const double log_total = log_sum_exp(particles.log_weights);
  if (log_total == kNegInf) return;

  const auto row = [&](std::size_t i) { return std::span(particles.states).subspan(i * width, width); };
  std::vector<std::size_t> sorted(particles.log_weights.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  // The sort is stable, so that weights are added in the order of the rows, which determines every bit of the sums.
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::size_t i, std::size_t j) {
    return std::lexicographical_compare(row(i).begin(), row(i).end(), row(j).begin(), row(j).end());
  });
  for (const std::size_t i : sorted) {
    const double probability = std::exp(particles.log_weights[i] - log_total);
    if (probability == 0.0) continue;
    if (!is_empty() && std::equal(row(i).begin(), row(i).end(), states_.end() - width)) {
      probabilities_.back() += probability;
    } else {
      graph.check_assignment(row(i), kFunction);
      states_.insert(states_.end(), row(i).begin(), row(i).end());
      probabilities_.push_back(probability);
      log_densities_.push_back(particles.log_densities[i]);
    }
  }
  // If weights are so large that their logarithms have few digits left, the digits of log_total are missing here.
  constexpr double kRounding = 1e-10;
  const double total = std::accumulate(probabilities_.begin(), probabilities_.end(), 0.0);
  if (std::abs(total - 1.0) > kRounding) {
    for (double& probability : probabilities_) probability /= total;
  }
  cumulative_.resize(probabilities_.size());
  std::partial_sum(probabilities_.begin(), probabilities_.end(), cumulative_.begin());
}

void ParticleApproximation::require_atoms(const char* function) const {
  check_argument(!is_empty(), function,
                 "the approximation has no atoms, because the run found no configuration of positive density");
}

std::span<const int> ParticleApproximation::atom(int index) const {
  return std::span(states_).subspan(index * num_states_.size(), num_states_.size());
}

Assignment ParticleApproximation::sample(Random& random) const {
  require_atoms("ParticleApproximation::sample");
  const double point = random.uniform() * cumulative_.back();
  const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, point);
  const std::span<const int> x = atom(static_cast<int>(found - cumulative_.begin()));
  return {x.begin(), x.end()};
}

double ParticleApproximation::log_prob(std::span<const int> x) const {
  check_states("ParticleApproximation::log_prob", num_states_, x);
  int low = 0;
  int high = num_atoms();
  while (low < high) {
    const int middle = low + (high - low) / 2;
    const std::span<const int> y = atom(middle);
    if (std::lexicographical_compare(y.begin(), y.end(), x.begin(), x.end())) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const bool is_atom = low < num_atoms() && std::equal(x.begin(), x.end(), atom(low).begin());
  return is_atom ? std::log(probabilities_[low]) : kNegInf;
}

double ParticleApproximation::entropy() const {
  require_atoms("ParticleApproximation::entropy");
  double sum = 0.0;
  for (const double p : probabilities_) sum -= p * std::log(p);
  return sum;
}

double ParticleApproximation::mean_log_density() const {
  require_atoms("ParticleApproximation::mean_log_density");
  double sum = 0.0;
  for (int i = 0; i < num_atoms(); ++i) sum += probabilities_[i] * log_densities_[i];
  return sum;
}

Marginals ParticleApproximation::marginals() const {
  require_atoms("ParticleApproximation::marginals");
  Marginals marginals;
  for (const int num_states : num_states_) marginals.emplace_back(num_states, 0.0);
  for (int i = 0; i < num_atoms(); ++i) {
    for (std::size_t v = 0; v < num_states_.size(); ++v) marginals[v][atom(i)[v]] += probabilities_[i];
  }
  return marginals;
}

std::optional<Configuration> ParticleApproximation::best() const {
  const auto largest = std::max_element(log_densities_.begin(), log_densities_.end());
  if (largest == log_densities_.end() || *largest == kNegInf) return std::nullopt;
  const std::span<const int> x = atom(static_cast<int>(largest - log_densities_.begin()));
  return Configuration{{x.begin(), x.end()}, *largest};
}

}  // namespace treesample
