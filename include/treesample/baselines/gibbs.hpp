// Gibbs sampling: independent restarts, as in the paper, or one long chain.
//
// A sweep updates the variables in the order of their numbers, each from its conditional
//
//   P(x_v = a | the others) proportional to exp(sum of psi_m over the factors m that contain v).
//
// Restarts: a uniform initial state, N_gibbs sweeps, one sample; repeated. Chain: one uniform initial state, burn_in
// sweeps, then a sample after every N_gibbs sweeps. Samples weigh 1 / I each.
//
// Zeros: a conditional that is 0 for all states is replaced by the uniform one. This happens only at configurations of
// density 0, which the target never visits, so the target stays invariant. The walk continues until it meets a
// configuration of positive density; after that it never meets one of density 0 again. Samples that still have density
// 0 are left out and counted.
//
// Cost: an update evaluates, for each of the K_v states, the factors of v; factors after the first -inf are neither
// evaluated nor charged. In factor units that is at most K_v |factors of v|. The paper does not say what an update
// costs in reward units; GibbsCharge has two readings. The density of a sample is known from its last sweep and costs
// nothing.
#pragma once

#include <cstdint>

#include "treesample/baselines/particle_approximation.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

enum class GibbsCharge {
  kState,   // K_v per update: a sum of factors at one configuration costs one, as R_n does
  kUpdate,  // 1 per update: a whole conditional distribution costs one
};

enum class GibbsMode { kRestarts, kChain };

struct GibbsOptions {
  std::int64_t min_samples = 0;  // these are drawn even if the budget pays for fewer
  GibbsMode mode = GibbsMode::kRestarts;
  int num_sweeps = 10;  // N_gibbs: sweeps per sample; for a chain, the thinning
  int burn_in = 0;      // sweeps before the first sample; only for a chain
  GibbsCharge charge = GibbsCharge::kState;
  std::uint64_t seed = 0;  // for the stream "gibbs"

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

struct GibbsReport : RunReport {
  std::int64_t num_samples = 0;       // I, including those of density 0
  std::int64_t num_zero_density = 0;  // left out of the approximation
};

struct GibbsResult {
  ParticleApproximation approximation;  // empty if all samples have density 0
  GibbsReport report;
};

// Of the limits, it uses the budget and `seconds`. Throws Error: kArgument for a budget that does not pay for one
// sample, kNumeric if a factor returns NaN or +inf. A run that is ended early returns the samples so far, at least one.
GibbsResult gibbs(const FactorGraph& graph, const Limits& limits, const GibbsOptions& options = {},
                  const Observer& observer = {});

}  // namespace treesample
