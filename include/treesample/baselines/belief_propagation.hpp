// Loopy belief propagation: marginals with the Bethe estimate of log Z, and sampling by decimation.
//
// Messages are in the log domain, all at once per step (flooding), from uniform ones:
//
//   factor m to v   mu_m,v(x_v) = log sum over the others of exp(psi_m + sum of nu_u,m(x_u), u in m without v)
//   v to factor m   nu_v,m(x_v) = sum of mu_l,v(x_v) over the factors l of v without m
//   belief          b_v(x_v)    proportional to exp(sum of mu_m,v(x_v) over the factors m of v)
//
// With damping d a message mu is d times the old plus 1 - d times the new one, in the log domain. On a graph without
// cycles beliefs and log Z are exact once the steps have crossed it. Zeros in messages are certain: when they leave no
// state of a variable, Z = 0.
//
// Only for tables: Error (kArgument) for a model with a function factor.
#pragma once

#include <cstdint>

#include "treesample/baselines/particle_approximation.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

struct BeliefPropagationOptions {
  int max_steps = 1'000;
  double tolerance = 1e-9;  // converged when no log-message changes by more
  double damping = 0.0;     // in [0, 1)

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

// kBudget is max_steps; every table entry is spent once.
struct BeliefPropagationReport : RunReport {
  // Bethe: sum_m log Z_m + sum_v log Z_v - sum_(m,v) log Z_mv with the normalisers of factors, variables
  // and edges. Neither a lower nor an upper bound of log Z, unless the graph is a forest.
  double estimate = 0.0;
  int num_steps = 0;
  double last_change = 0.0;  // the largest change of a log-message in the last step

  [[nodiscard]] bool is_converged() const { return stop == StopReason::kConverged; }
};

struct BeliefPropagationResult {
  // Of the last step. When Z = 0 was found: the estimate is -inf, all marginals are 0.
  Marginals marginals;
  BeliefPropagationReport report;
};

// Of the limits it uses `seconds`. One step is always made.
BeliefPropagationResult belief_propagation(const FactorGraph& graph, const Limits& limits = {},
                                           const BeliefPropagationOptions& options = {}, const Observer& observer = {});

// What a message-passing step costs in reward units; the paper does not say. In factor units a step costs
// what it reads: all table entries.
enum class BpCharge {
  kFactor,   // one per factor with a scope
  kMessage,  // one per message: the scope sizes added up
  kEntry,    // one per table entry
};

// Decimation, the paper's BP: messages start uniform; N_message steps; X_1 is drawn from its belief and
// its messages become that atom; N_message more steps; X_2 is drawn; and so on in the order of the
// numbers. Samples weigh 1 / I each. A sample that runs into a contradiction (no state of a variable is
// left) or has density 0 is left out and counted.
//
// Cost of a sample: N N_message steps, whether or not a factor has only drawn variables.
struct BpSampleOptions {
  std::int64_t min_samples = 0;  // drawn even where the budget pays for fewer
  int num_steps = 5;             // N_message
  double damping = 0.0;
  BpCharge charge = BpCharge::kFactor;
  std::uint64_t seed = 0;  // stream "decimation"

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

struct BpSampleReport : RunReport {
  std::int64_t num_samples = 0;         // I, those left out included
  std::int64_t num_contradictions = 0;  // left out
  std::int64_t num_zero_density = 0;    // left out; decimation on a graph with cycles can be wrong
};

struct BpSampleResult {
  ParticleApproximation approximation;  // empty when every sample was left out
  BpSampleReport report;
};

// Of the limits it uses the budget and `seconds`. Throws Error (kArgument) also for a budget that does not pay for one
// sample. A run that is ended early returns the samples so far, at least one.
BpSampleResult bp_sample(const FactorGraph& graph, const Limits& limits, const BpSampleOptions& options = {},
                         const Observer& observer = {});

}  // namespace treesample
