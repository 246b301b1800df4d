// Loopy belief propagation: marginals with the Bethe estimate of log Z, and sampling by decimation.
//
// Messages are in the log domain. They begin uniform, and each step updates all of them at once (flooding):
//
//   factor m to v   mu_m,v(x_v) = log sum over the others of exp(psi_m + sum of nu_u,m(x_u), u in m without v)
//   v to factor m   nu_v,m(x_v) = sum of mu_l,v(x_v) over the factors l of v without m
//   belief          b_v(x_v)    proportional to exp(sum of mu_m,v(x_v) over the factors m of v)
//
// With damping d, a message mu becomes d times the old one plus 1 - d times the new one, in the log domain. On a graph
// without cycles, beliefs and log Z are exact after as many steps as messages need to cross it. Zeros in messages are
// certain: if they leave no state of a variable, Z = 0.
//
// Only for tables: Error (kArgument) for a model with a function factor.
#pragma once

#include <cstdint>

#include "treesample/baselines/particle_approximation.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

struct BeliefPropagationOptions {
  int max_steps = 1'000;
  double tolerance = 1e-9;  // the run has converged when no log-message changes by more than this
  double damping = 0.0;     // in [0, 1)

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

// `stop` is kBudget after max_steps. Every table entry is charged once.
struct BeliefPropagationReport : RunReport {
  // Bethe: sum_m log Z_m + sum_v log Z_v - sum_(m,v) log Z_mv with the normalisers of factors, variables
  // and edges. Neither a lower nor an upper bound of log Z, unless the graph is a forest.
  double estimate = 0.0;
  int num_steps = 0;
  double last_change = 0.0;  // the largest change of a log-message in the last step

  [[nodiscard]] bool is_converged() const { return stop == StopReason::kConverged; }
};

struct BeliefPropagationResult {
  // Marginals of the last step. If Z = 0 was found, the estimate is -inf and all marginals are 0.
  Marginals marginals;
  BeliefPropagationReport report;
};

// Of the limits, it uses `seconds`. At least one step is made.
BeliefPropagationResult belief_propagation(const FactorGraph& graph, const Limits& limits = {},
                                           const BeliefPropagationOptions& options = {}, const Observer& observer = {});

// The price of a message-passing step in reward units; the paper does not say. In factor units a step costs the number
// of table entries that it reads, which is all of them.
enum class BpCharge {
  kFactor,   // one per factor with a scope
  kMessage,  // one per message: the scope sizes added up
  kEntry,    // one per table entry
};

// Decimation, the paper's BP. Messages start uniform and N_message steps are made. X_1 is drawn from its belief, and
// its messages become that atom. After N_message more steps X_2 is drawn; and so on, in the order of the variables'
// numbers. Samples weigh 1 / I each. A sample that runs into a contradiction (no state of a variable is left) or has
// density 0 is left out and counted.
//
// Cost of a sample: N N_message steps. Factors whose variables are all drawn are charged too.
struct BpSampleOptions {
  std::int64_t min_samples = 0;  // these are drawn even if the budget pays for fewer
  int num_steps = 5;             // N_message
  double damping = 0.0;
  BpCharge charge = BpCharge::kFactor;
  std::uint64_t seed = 0;  // for the stream "decimation"

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

struct BpSampleReport : RunReport {
  std::int64_t num_samples = 0;         // I, including those left out
  std::int64_t num_contradictions = 0;  // left out
  std::int64_t num_zero_density = 0;    // left out; decimation on a graph with cycles can be wrong
};

struct BpSampleResult {
  ParticleApproximation approximation;  // empty if every sample was left out
  BpSampleReport report;
};

// Of the limits, it uses the budget and `seconds`. Throws Error (kArgument), also for a budget that does not pay for
// one sample. A run that is ended early returns the samples so far, at least one.
BpSampleResult bp_sample(const FactorGraph& graph, const Limits& limits, const BpSampleOptions& options = {},
                         const Observer& observer = {});

}  // namespace treesample
