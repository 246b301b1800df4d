// Importance sampling with weights that cannot exceed a known bound: log Z with limits that hold at a stated confidence
// after any number of samples; marginals with standard errors; and exact samples by rejection.
//
//   w_i = gamma_hat(x_i) / P_U(x_i) <= exp(B),     z_i = w_i exp(-B) in [0, 1],     Z = exp(B) E[z]
//
// Limits of E[z] by betting (Waudby-Smith and Ramdas 2024; src/evaluate/betting.hpp) hold with probability at least 1 -
// delta, at whatever moment the sampling ends; this is not an asymptotic statement. If each draw is accepted with
// probability z, accepted draws have the target's distribution; each takes exp(B) / Z tries on average.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "treesample/math/log_domain.hpp"
#include "treesample/search/search_approximation.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

// A set of configurations whose sum is known, such as those of a cutset (exact/cutset.hpp). Samples then only have to
// estimate the rest,
//
//   Z = exp(log_mass) + exp(B) E[z 1(x is none of them)].
//
// The less of Z is left, the closer are the limits. The set must be chosen before the samples are drawn.
struct KnownPart {
  LogBounds log_mass{kNegInf, kNegInf};  // certified
  double estimate = kNegInf;             // of log_mass
  std::function<bool(std::span<const int> x)> holds = {};
};

struct BoundedImportanceOptions {
  std::int64_t max_samples = 10'000;
  double confidence = 0.95;  // of the interval
  // The number of samples that there will be in total, as expected after num_drawn of them; empty if it is max_samples.
  // A good guess makes the interval short. It must not depend on samples that are still to come.
  std::function<double(std::int64_t num_drawn)> expected_samples = {};
  // Used for log_z, its error and its interval. Marginals and the effective sample size are those of all samples.
  std::optional<KnownPart> known = {};
  // Threads that draw samples, for models made of tables. Each has its own copy of the sampler and of `known`, which
  // must allow this. The bits are the same for any number of threads. Functions are called by one thread only.
  int threads = 1;
  // Ends the run in the middle of a sample, which is dropped, if one takes long: for large models and slow leaf values.
  // The calling thread asks it.
  ShouldStop should_drop = {};

  void validate() const;
};

struct BoundedImportance {
  // Log of the mean weight, or of the known sum plus the mean weight of the rest; -inf if all of that is 0.
  double log_z = 0.0;
  LogBounds interval;  // of log Z, at `confidence`
  double confidence = 0.0;
  double std_error = 0.0;  // of log_z, see no_error; +inf if it is unknown
  double ess = 0.0;        // effective sample size
  std::int64_t num_samples = 0;
  std::optional<Error> error;  // set if a factor failed permanently: this is the estimate so far
  Spending spent;              // what evaluating the samples cost
  Configuration best;          // the sample with the largest density; x is empty if there was none
  Marginals marginals;         // weighted; empty if all weights are 0
  // Why there are no standard errors; empty if there are. Large weights that were not met show neither in the variance
  // nor in ess, but the bound limits them: the probability that all n samples miss a region with a share p of Z is at
  // most exp(-p r), where r = n Z exp(-B). There are errors only for r >= kFewestHits, and only if the interval has a
  // lower end. All of them are computed by the delta method and are at least 1 / r.
  std::string no_error;
  // The largest standard error of the marginal probabilities of each variable; at least that of `ess` independent
  // samples. Empty without marginals, and if no_error gives a reason.
  std::vector<double> marginal_errors;
  // The largest of all marginal errors, and at least that of a probability of 1/2; 1 without errors.
  double marginals_error = 1.0;
};

inline constexpr double kFewestHits = 10.0;

// Any sampler with weights of at most exp(log_bound).
struct BoundedSampler {
  double log_bound = 0.0;  // -inf means Z = 0
  // Writes one sample to x, which has an element for every variable of the graph, and returns its log-probability.
  // During a long sample it may look at `stop`, and then throws Error (kInterrupted).
  std::function<double(std::span<int> x, Random& random, StopCheck& stop)> sample_into;
  // The same, but may give up early on a sample whose weight is small (StoreApproximation::sample_or_give_up). May be
  // empty.
  std::function<double(std::span<int> x, Random& random, double least, StopCheck& stop)> sample_or_give_up = {};
};

// The observer is told the progress after every sample and can end the run then; the result is the estimate so far.
BoundedImportance bounded_importance(const FactorGraph& graph, const BoundedSampler& sampler,
                                     const BoundedImportanceOptions& options, Random& random,
                                     const Observer& observer = {});
// `upper` must be the sampler by upper bounds; otherwise throws Error (kArgument).
BoundedImportance bounded_importance(const FactorGraph& graph, const SearchApproximation& upper,
                                     const BoundedImportanceOptions& options, Random& random,
                                     const Observer& observer = {});

struct RejectionSamples {
  std::vector<Assignment> samples;  // exact and independent, except for log_error
  std::int64_t num_tries = 0;
  // The largest rounding error in the logarithm of a try's probability of acceptance: the samples have the target's
  // probabilities up to factors of exp(2 log_error). It is small unless large factors cancel.
  double log_error = 0.0;
  std::optional<Error> error = {};  // set if a factor failed permanently: these are the samples so far
  Spending spent = {};
};

struct RejectionOptions {
  std::int64_t num_samples = 1;
  std::int64_t max_tries = 10'000'000;
};

// Draws until enough draws are accepted, `max_tries` were made, or the observer, asked after every try, ends it.
// Returns no samples if Z = 0 is known.
RejectionSamples rejection_samples(const FactorGraph& graph, const SearchApproximation& upper,
                                   const RejectionOptions& options, Random& random, const Observer& observer = {});

}  // namespace treesample
