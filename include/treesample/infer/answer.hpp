// The answer of `infer`, the same for all methods, in terms of the variables and states of the given model.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "treesample/count/circuit.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/bounded_importance.hpp"
#include "treesample/evaluate/importance.hpp"
#include "treesample/infer/plan.hpp"
#include "treesample/infer/question.hpp"
#include "treesample/io/program_set.hpp"
#include "treesample/math/log_bounds.hpp"
#include "treesample/model/approximation.hpp"
#include "treesample/reduce/evidence.hpp"
#include "treesample/reduce/simplify.hpp"

namespace treesample {

// The share of Z that belongs to completely evaluated configurations: exp(L - log Z), with L certified and log Z
// estimated.
struct EvaluatedShare {
  double share = 0.0;
  double log_z = 0.0;
  std::string log_z_by;  // which estimate
};

// An interval of log Z from samples and their spread. Its coverage is about its confidence, which is measured and not
// proved.
struct SampledInterval {
  LogBounds log_z;
  double confidence = 0.0;
};

struct Answer : AskedAnswers {
  Plan plan;
  std::string method;  // one line on what was done
  StopReason stop = StopReason::kBudget;
  std::optional<Error> error;  // a factor failed: this is the answer so far

  // log Z.
  std::optional<double> log_z;         // the estimate; Gibbs sampling has none
  std::optional<double> lower, upper;  // certified, where the method has them
  bool is_exact = false;               // these are as close as LogBounds::kExact
  // What log_z is: "exact", "lower bound" (certified, and all that is known), "estimate", or "" where there is none.
  [[nodiscard]] const char* log_z_kind() const;
  std::optional<ImportanceEstimate> importance;
  std::optional<SampledInterval> sampled_interval;      // of a learned model
  std::optional<BoundedImportance> bounded_importance;  // with an interval; its marginals are below
  // P_X's own share of what a search of tables that is not exact did not evaluate; of an exact search, of what the
  // memory could not hold.
  std::optional<double> unexplored_mass;
  std::optional<EvaluatedShare> evaluated;  // of a search with programs that is not exact

  // marginals[variable][state]; empty when there are none (Z = 0).
  Marginals marginals;
  std::string marginals_from;             // where they come from
  std::vector<double> marginal_errors;    // standard errors, by variable; 0 for exact ones, may be empty
  std::optional<double> marginals_error;  // the largest
  std::string marginals_no_error;         // why there are none; empty when there are

  // Observations that make Z = 0: without any one of them Z would not be 0, unless the time did not suffice to make the
  // set that small. Empty where Z > 0, and where the model has no possible configuration even without evidence.
  Observations conflict;
  // Z is the probability of the evidence: the model is a Bayesian network, and nothing soft was observed.
  bool is_evidence_probability = false;
  // Then this: never above 1, and rounded down where log_z is a lower bound.
  [[nodiscard]] std::optional<double> evidence_probability() const;

  std::optional<Configuration> best;
  // True: no configuration is better by more than best_gap, which is rounding. False: the best found. None: a proof was
  // possible, but time or memory did not suffice.
  std::optional<bool> is_best_optimal = false;
  std::optional<double> best_gap;  // certified: no configuration is better by more than this

  std::vector<Assignment> samples;
  std::vector<double> sample_log_probs;  // under `approximation`; none for exact samples: that takes an exact log Z
  std::vector<double>
      sample_log_densities;        // log gamma_hat; none in a model with functions, which are not called unasked
  bool has_exact_samples = false;  // drawn by rejection: they have the target's distribution
  std::shared_ptr<const Approximation> approximation;  // otherwise samples are drawn from this; may be null
  std::optional<double> sampler_divergence;            // certified: KL(approximation || target) is at most this

  // With the option compile: a circuit of the whole model, without its evidence, or why there is none: kResource when
  // the limits did not suffice, kInterrupted, kNumeric for an impossible model.
  std::shared_ptr<const Circuit> circuit;
  std::optional<Error> no_circuit;

  Spending spent;
  double seconds = 0.0;
  std::vector<OracleCounts> program_counts;  // of factors that are computed by programs
  std::vector<OracleCall> calls;             // of these, in the order of their answers
  SimplifyReport simplified;                 // what was removed from the model before the method saw it
  int num_variables_left = 0, num_factors_left = 0;
};

}  // namespace treesample
