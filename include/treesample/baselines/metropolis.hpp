// Metropolis: one chain of configurations, one variable at a time.
//
// The chain starts at a uniform configuration. A step draws a variable and a state for it, both uniformly, and moves
// there with probability min(1, gamma_hat(there) / gamma_hat(here)); the target stays invariant. The first half of the
// steps is left out, and each of the others is a sample: P_X(x) is the share of these steps that the chain spent at x.
//
// Zeros: from a configuration of density 0 every step is accepted, so that the chain walks freely until it meets one of
// positive density. After that it never accepts density 0. The configurations before are left out.
//
// Cost: a step evaluates one configuration, which costs one in reward units, like each state in an update of Gibbs
// sampling. A function value that is known from the same run costs no call, so moves among configurations that the
// chain has visited are free. The chain ends when the budget does not pay for one more configuration at its full price,
// or after Budget::kFreeRewards steps that cost nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "treesample/baselines/particle_approximation.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

struct MetropolisOptions {
  std::uint64_t seed = 0;  // for the stream "metropolis"
};

struct MetropolisReport : RunReport {
  std::int64_t num_steps = 0;     // configurations that were evaluated, including the first one
  std::int64_t num_accepted = 0;  // steps that moved
};

struct MetropolisResult {
  ParticleApproximation approximation;  // empty if nothing possible was met
  std::optional<Configuration> best;    // the best of all that were evaluated
  MetropolisReport report;
};

// Of the limits, it uses budget, unit, seconds and bytes. Throws Error: kArgument for a budget that does not pay for
// one configuration, kNumeric if a factor returns NaN or +inf. A run that is ended early returns the result so far.
MetropolisResult metropolis(const FactorGraph& graph, const Limits& limits, const MetropolisOptions& options = {},
                            const Observer& observer = {});

}  // namespace treesample
