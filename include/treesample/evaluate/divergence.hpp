// How far an approximation P_X is from the target P* (the paper's section 4.1, all in nats):
//
//   KL[P_X || P*] = log Z + delta_KL,      delta_KL = -E_P[sum psi] - H[P_X]
//   delta_energy  = E_P*[sum psi] - E_P[sum psi]    (lower is better)
//   delta_entropy = H[P_X] - H[P*]                  (higher is better)
//   KL[P_X || P*] = delta_energy - delta_entropy
//
// delta_KL needs only the factors of the target. For a search with uniform leaf values it is computed exactly by one
// pass over the nodes, and for every approximation of a small model by enumeration. Otherwise it is estimated from
// samples. An approximation that gives mass to an impossible configuration has energy -inf and delta_KL +inf.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "treesample/space/budget.hpp"
#include "treesample/store/store_approximation.hpp"

namespace treesample {

struct Divergence {
  double energy = 0.0;    // E_P[sum psi]
  double entropy = 0.0;   // H[P_X]
  double delta_kl = 0.0;  // -energy - entropy
  bool is_exact = false;
  // Standard errors. They are 0 if the result is exact, and for an energy of -inf, which one impossible sample proves;
  // +inf if there is only one sample, which tells nothing about them.
  double energy_error = 0.0;
  double entropy_error = 0.0;
  double delta_kl_error = 0.0;
  int num_samples = 0;  // 0 if exact
  Spending spent;       // for samples, configurations or entries of function factors; table look-ups are free
  std::vector<double> log_ratios = {};  // of the samples: log gamma_hat - log P_X

  // KL[P_X || P*] for the log Z of the target, which must not be -inf.
  [[nodiscard]] double kl(double log_z) const { return log_z + delta_kl; }
  // The total variation distance E_P[max(0, 1 - P*(x) / P_X(x))], estimated from the samples, with its standard error.
  // Pre: there are samples.
  [[nodiscard]] std::pair<double, double> total_variation(double log_z) const;
};

struct DivergenceOptions {
  int num_samples = 10'000;
  std::int64_t max_configurations = std::int64_t{1} << 16;    // larger models are not enumerated
  std::int64_t max_function_entries = std::int64_t{1} << 16;  // means only for functions with at most so many entries
};

// The first of these that is possible: store_divergence (for the approximation of a search), enumerated_divergence,
// sampled_divergence.
//
// Here and below, `graph` is the one for which the approximation was made. Throws Error (kArgument) if no configuration
// has positive probability under P_X, because there is then no distribution.
Divergence divergence(const FactorGraph& graph, const Approximation& approximation, const DivergenceOptions& options,
                      Random& random);

// Exact, by one pass over the store. With r(e) the probability that a sample takes edge e,
//
//   H[P_X]       = sum over edges of -r log p(e | node) + mass that leaves the store * log-states below
//   E_P[sum psi] = sum over evaluated edges of r R      + mass that leaves the store * means of pending factors
//
// P_X is uniform outside of the store. So the mean of a factor, given the assigned part of its scope, is the plain mean
// of the entries that agree with that part. Returns none unless has_exact_marginals(), and if means would take more
// evaluations of function factors than max_function_entries (a complete store needs none). Cost: O(edges * factors open
// at their level).
std::optional<Divergence> store_divergence(
    const FactorGraph& graph, const StoreApproximation& approximation,
    std::int64_t max_function_entries = DivergenceOptions{}.max_function_entries);

// Exact, from log_prob and log_density of every configuration. Throws kResource above kMaxEnumeratedConfigurations.
Divergence enumerated_divergence(const FactorGraph& graph, const Approximation& approximation);

// Means over samples, with standard errors. Throws kArgument for num_samples < 1.
Divergence sampled_divergence(const FactorGraph& graph, const Approximation& approximation, int num_samples,
                              Random& random);

// The target's own log Z, energy and entropy: log_z = energy + entropy.
struct TargetMoments {
  double log_z = 0.0;
  double energy = 0.0;
  double entropy = 0.0;
};

// Exact. By store_divergence of a complete search in the `andor` space, which evaluates every reward once per context,
// if that takes at most max_evaluations. Otherwise by elimination, if all factors are tables and its buckets have at
// most max_entries in all: the energy is then the sum over tables of E_P*[psi_m], from the derivatives of Z
// (exact/derivatives.hpp). Throws kResource if neither is possible, and kArgument if Z = 0.
TargetMoments target_moments(const FactorGraph& graph, double max_evaluations = 1e7, double max_entries = 3e9);

inline double delta_energy(const TargetMoments& target, const Divergence& approximation) {
  return target.energy - approximation.energy;
}
inline double delta_entropy(const TargetMoments& target, const Divergence& approximation) {
  return approximation.entropy - target.entropy;
}

}  // namespace treesample
