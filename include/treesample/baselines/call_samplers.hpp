// Simple ways of spending calls, which learned methods are compared with. Each chooses configurations to evaluate; all
// remember: with the evaluated configurations A,
//
//   P_X(x) = gamma_hat(x) / Z_A for x in A,   Z_A = sum of gamma_hat over A,
//
// which is the best distribution over A, by any measure: its KL to the target is log Z - log Z_A.
//
//   random         uniform ones, each once
//   metropolis     a chain as in baselines/metropolis.hpp; A holds what it refused, too
//   tempering      four such chains on gamma_hat^b, b = 1, 1/2, 1/4, 1/8, which exchange their configurations
//   annealing      SMC: particles that go from the uniform distribution to the target in ten steps of gamma_hat^b,
//                  resampled, then moved by one Metropolis step each
//   cross-entropy  ten generations from a product of frequencies: half those of the best fifth of a generation
//   frequencies    as tree-structured Parzen estimators (baselines/frequencies.hpp)
#pragma once

#include <cstdint>
#include <optional>

#include "treesample/baselines/particle_approximation.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

enum class CallSampler { kRandom, kMetropolis, kTempering, kAnnealing, kCrossEntropy, kFrequencies };

struct CallSamplerReport : RunReport {
  std::int64_t num_asked = 0;  // different configurations
};

struct CallSamplerResult {
  ParticleApproximation approximation;  // empty when nothing possible was met
  std::optional<Configuration> best;
  double log_known = 0.0;  // log Z_A
  CallSamplerReport report;
};

// Of the limits it uses budget, unit and seconds. A configuration that was evaluated before costs no call. Throws
// Error: kArgument for a budget that does not pay for one configuration, kNumeric when a factor returns NaN or +inf.
CallSamplerResult sample_by_calls(const FactorGraph& graph, const Limits& limits, CallSampler sampler,
                                  std::uint64_t seed, const Observer& observer = {});

}  // namespace treesample
