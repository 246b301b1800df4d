// Sequential importance sampling and sequential Monte Carlo, the paper's main baselines.
//
// I particles are extended level by level along the order. At level n each draws an action from the proposal
// softmax(Q_phi_n( . | x)) and pays for one reward:
//
//   log w_i += R_n(x_i) - log proposal(a_i)
//
// When the effective sample size (sum w)^2 / sum w^2 falls below t I, particles are resampled and the weights are reset
// (but not after the last level, where atoms keep their weights, unless resamples_last asks for it). t = 0 is SIS. The
// product of the mean weights between resamplings estimates Z without bias, provided that the proposal is positive
// wherever the target is.
//
// Cost: I = floor(B / N) particles in reward units and floor(B / M) in factor units (M: factors with a scope). Each
// particle pays for its own rewards, as in the paper, even if two particles are equal. A particle of weight 0 is
// dropped, and the budget for its further levels stays unspent; means over I still count it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "treesample/baselines/particle_approximation.hpp"
#include "treesample/baselines/resampling.hpp"
#include "treesample/space/limits.hpp"
#include "treesample/value/leaf_value.hpp"

namespace treesample {

struct SmcOptions {
  std::int64_t min_samples = 0;  // these are drawn even if the budget pays for fewer
  double ess_threshold = 0.5;    // t in [0, 1]; 0 is SIS
  ResamplingScheme resampling = ResamplingScheme::kSystematic;
  bool resamples_last = false;  // also after the last level, by the same threshold
  std::uint64_t seed = 0;       // for the streams "proposal" and "resampling"

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

struct SmcReport : RunReport {
  double estimate = 0.0;           // log of the estimate of Z; -inf if all particles were dropped
  std::int64_t num_particles = 0;  // I
  std::int64_t num_dropped = 0;    // particles that got weight 0; a particle that replaced one may be counted again
  int num_resamplings = 0;
  double ess = 0.0;  // of the final weights, before equal atoms are merged
};

struct SmcResult {
  ParticleApproximation approximation;  // empty if the estimate is -inf or the run was ended early
  SmcReport report;
};

// The proposal is made from the estimate of `leaves`; without one it is uniform. Of the limits, it uses the budget,
// `seconds` and `bytes`. Throws Error: kArgument for an andor space (particles need one order; tree and graph give the
// same result) and for a budget that does not pay for one particle, kResource if the particles do not fit into memory,
// kNumeric if a factor or the leaf value returns NaN or +inf.
SmcResult smc(const FactorGraph& graph, const SearchSpace& space, const LeafValues& leaves, const Limits& limits,
              const SmcOptions& options = {}, const Observer& observer = {});

}  // namespace treesample
