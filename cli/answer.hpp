// What `infer` answers, whatever the method, and how it is shown.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model_input.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/bounded_importance.hpp"
#include "treesample/evaluate/importance.hpp"
#include "treesample/math/log_bounds.hpp"
#include "treesample/reduce/summed_model.hpp"
#include "treesample/tree/tree_approximation.hpp"

namespace treesample::cli {

// The share of Z that complete configurations make up whose factors were all evaluated: exp(L - log Z) with L certified
// and log Z estimated.
struct EvaluatedShare {
  double share = 0.0;
  double log_z = 0.0;
  std::string log_z_by;  // which estimate
};

struct Answer {
  std::string method;                  // one line on what was done
  std::string stop;                    // why it ended: exact, budget, time, memory, interrupted, factor failed
  std::optional<double> log_z;         // the method's own estimate; Gibbs sampling has none
  bool is_exact = false;               // its certified bounds are as close as LogBounds::kExact
  std::optional<double> lower, upper;  // certified bounds of log Z, where the method has them
  bool has_importance = false;         // the approximation covers the support: importance sampling makes sense
  std::optional<ImportanceEstimate> importance;
  std::optional<BoundedImportance> bounded_importance;  // of a search with upper bounds
  std::optional<double> unexplored_mass;                // of a search of tables that is not exact: P_X's own share
  std::optional<EvaluatedShare> evaluated;              // of a search with programs that is not exact
  Marginals marginals;                                  // of the conditioned model; empty when there are none (Z = 0)
  std::string marginals_from;                           // where they come from
  std::vector<double> marginal_errors;                  // standard errors, by variable; 0 for exact ones, may be empty
  std::optional<double> marginals_error;                // the largest
  std::string marginals_no_error;                       // why there are none; empty when there are
  std::optional<Configuration> best;
  // True: no configuration is better by more than best_gap, which is rounding. False: the best found. None: it could
  // have been proved, but for time or memory.
  std::optional<bool> is_best_optimal = false;
  std::optional<double> best_gap;  // certified: no configuration is better by more than this
  std::vector<Assignment> samples;
  Spending spent;
  std::optional<Error> error;  // a factor failed: this is the answer so far
  double seconds = 0.0;
  std::vector<OracleCounts> oracle_counts;                   // of factors that are computed by programs
  std::shared_ptr<const Approximation> approximation;        // null when nothing can be sampled
  std::optional<double> sampler_divergence;                  // certified: KL(approximation || target) is at most this
  std::shared_ptr<const SearchApproximation> exact_sampler;  // samples are drawn from it by rejection; may be null
  std::shared_ptr<const SummedModel> summed;                 // what exact_sampler samples; null: the whole model
  // Resolved options, in the order of the command line.
  std::vector<std::pair<std::string, std::string>> options;

  // Certified bounds, and an estimate that lies within them.
  void set_log_z(double estimate, const LogBounds& bounds) {
    if (!(bounds.lower <= bounds.upper)) {
      throw Error(ErrorCode::kNumeric,
                  "the certified bounds of log Z contradict each other: is a declared log_max wrong?");
    }
    lower = bounds.lower;
    if (bounds.upper < HUGE_VAL) upper = bounds.upper;
    is_exact = bounds.is_exact();
    log_z = bounds.clamp(estimate);
  }
  // The model that was answered for has a log Z this far off.
  void widen(double log_error) {
    if (!log_z || log_error == 0.0) return;
    const LogBounds bounds{lower.value_or(-HUGE_VAL) - log_error, upper.value_or(HUGE_VAL) + log_error};
    if (lower || upper) set_log_z(*log_z, bounds);
  }
  void set_exact_marginals(Marginals exact) {
    marginals = std::move(exact);
    marginals_from = "exact";
    marginals_no_error.clear();
    marginal_errors.assign(marginals.size(), 0.0);
    marginals_error = 0.0;
  }
  // By weighted samples, with their errors where these are known.
  void set_sampled_marginals(BoundedImportance sampled, const std::string& kind);
  // Of the variables that were not summed out; there are marginals of all.
  void set_exact_marginals_left(const Marginals& exact) {
    for (std::size_t i = 0; i < exact.size(); ++i) {
      marginals[summed->variable_of()[i]] = exact[i];
      if (!marginal_errors.empty()) marginal_errors[summed->variable_of()[i]] = 0.0;
    }
    marginals_from = "exact; those of barren variables " + marginals_from;
  }
};

// Marginals of all variables of the original model; empty when Z = 0 or the method has none.
Marginals lifted_marginals(const Answer& answer, const ModelInput& input);

// The processor time that showing the samples will take, by a trial with some of them: --time has to leave room for it.
double seconds_to_show_samples(const Answer& answer, const ModelInput& input, bool as_text, bool as_json);

// A short readable summary on standard output.
void print_summary(const Answer& answer, const ModelInput& input, const std::string& model_file);

// Everything as one JSON object, in terms of the original model's variables; "-" is standard output.
// Infinite numbers are the strings "inf" and "-inf".
void write_json(const Answer& answer, const ModelInput& input, const std::string& model_file, const std::string& path);

}  // namespace treesample::cli
