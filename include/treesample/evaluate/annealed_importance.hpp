// Annealed importance sampling, both ways (Neal 2001; Grosse, Ghahramani and Adams 2015): log Z with limits that hold
// at a stated confidence although nothing bounds the weights.
//
// Forward, a chain starts from the base q and passes the temperatures of a path (src/evaluate/annealing_path.hpp):
//
//   x_0 ~ q,    x_k ~ a sweep at b_k from x_(k-1),    log w = sum_k (b_k - b_(k-1)) (log g - log q)(x_(k-1))
//
// w >= 0 has the mean Z, however badly the chains mix, so that betting gives a lower limit of Z
// (src/evaluate/lower_limit.hpp).
//
// Backward, a chain starts at an exact sample of the model and goes the same way back, by the reversed sweeps. Its 1 /
// w has the mean P(w > 0) / Z, at most 1 / Z, and a lower limit of that mean is an upper limit of Z.
//
// The last state of a forward chain counts with weight w as a sample of the model; marginals are means of the
// conditional probabilities that its last sweeps draw from.
//
// docs/methods/annealing.md has the derivation and what is measured.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "treesample/baselines/particle_approximation.hpp"
#include "treesample/evaluate/bounded_importance.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/approximation.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

class AnnealingPath;  // where chains start, and the temperatures that they pass

struct AnnealingOptions {
  std::int64_t num_temperatures = 0;  // 0: chosen from trial chains
  std::int64_t min_chains = 1;        // even where the budget pays for fewer
  std::int64_t max_chains = 1 << 16;
  double error_probability = 0.05;  // of the limit
  bool has_marginals = true;        // wanted
  bool keeps_particles = false;     // all last states are wanted
  std::uint64_t seed = 0;           // stream "annealing"

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

struct AnnealedReport : RunReport {
  double estimate = kNegInf;   // log of the mean weight
  double log_lower = kNegInf;  // log Z is at least this, but with the error probability
  double std_error = 0.0;      // of the estimate; +inf where it is unknown
  std::string no_error;        // why it is; empty otherwise
  double ess = 0.0;            // effective number of chains
  std::int64_t num_chains = 0, num_impossible = 0;
  int num_temperatures = 0;
  std::string base;
};

struct AnnealedResult {
  AnnealedReport report;
  Configuration best;                   // the last state with the largest density; empty x where there was none
  Marginals marginals;                  // weighted; empty where all weights are 0
  std::vector<double> marginal_errors;  // by variable, the largest standard error; empty as in report.no_error
  double marginals_error = 1.0;         // the largest of all
  Particles particles;
  std::shared_ptr<const AnnealingPath> path;  // of the graph, which must outlive it
};

// Chooses the path, then runs chains. Of the limits it uses the budget, `seconds` and `threads`; the bits are the same
// for any number of threads. Throws Error (kArgument) for a model with functions, and for a budget that does not pay
// for eight chains with one temperature each.
AnnealedResult annealed_importance(const FactorGraph& graph, const Limits& limits, const AnnealingOptions& options = {},
                                   const Observer& observer = {});

struct AnnealedUpper {
  double log_upper = 0.0;  // log Z is at most this, but with the error probability; +inf: nothing is known
  double estimate = 0.0;   // of log Z, biased upward where forward chains can end in impossible states
  std::int64_t num_samples = 0;
};
// Chains back from exact, independent samples of the path's graph; each of them counts once, however many chains start
// there. Of the limits it uses `seconds` and `threads`, of the options the error probability and the seed.
AnnealedUpper annealed_upper(const AnnealingPath& path, const RejectionSamples& exact, const Limits& limits,
                             const AnnealingOptions& options, const Observer& observer = {});

}  // namespace treesample
