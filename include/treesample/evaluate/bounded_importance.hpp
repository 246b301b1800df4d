// Importance sampling with weights that cannot exceed a known bound: log Z with limits that hold at a stated
// confidence after any number of samples, marginals with standard errors, and exact samples by rejection.
//
//   w_i = gamma_hat(x_i) / P_U(x_i) <= exp(B),     z_i = w_i exp(-B) in [0, 1],     Z = exp(B) E[z]
//
// Limits of E[z] by betting (Waudby-Smith and Ramdas 2024; src/evaluate/betting.hpp) hold with probability at least 1 -
// delta at whatever moment the sampling ends; this is not an asymptotic statement. A draw that is accepted with
// probability z has the target's distribution; it takes exp(B) / Z tries on average.
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

// Configurations whose sum is known, such as those of a cutset (exact/cutset.hpp): samples only have to estimate the
// rest,
//
//   Z = exp(log_mass) + exp(B) E[z 1(x is none of them)],
//
// whose limits are closer the less of Z is left. The set must be chosen before the samples are drawn.
struct KnownPart {
  LogBounds log_mass{kNegInf, kNegInf};  // certified
  double estimate = kNegInf;             // of log_mass
  std::function<bool(std::span<const int> x)> holds = {};
};

struct BoundedImportanceOptions {
  std::int64_t max_samples = 10'000;
  double confidence = 0.95;  // of the interval
  // After num_drawn samples, how many there will be in total, where that is not max_samples. A good guess makes the
  // interval short. It must not depend on samples that are still to come.
  std::function<double(std::int64_t num_drawn)> expected_samples = {};
  // Used for log_z, its error and its interval; marginals and the effective sample size are those of all samples.
  std::optional<KnownPart> known = {};
  // Threads that draw samples of models made of tables. Each has a copy of the sampler and of `known`, which must allow
  // this; the bits are the same for any number. Functions are called by one thread.
  int threads = 1;
  // Ends the run within a sample, which is dropped, where one takes long: large models, slow leaf values. The calling
  // thread asks it.
  ShouldStop should_drop = {};

  void validate() const;
};

struct BoundedImportance {
  // Log of the mean weight, or of the known sum plus the mean weight of the rest; -inf when all of it is 0.
  double log_z = 0.0;
  LogBounds interval;  // of log Z, at `confidence`
  double confidence = 0.0;
  double std_error = 0.0;  // of log_z, see below; +inf when it is unknown
  double ess = 0.0;        // effective sample size
  std::int64_t num_samples = 0;
  std::optional<Error> error;  // a factor failed permanently: this is the estimate so far
  Spending spent;              // what evaluating the samples cost
  Configuration best;          // the sample with the largest density; empty x when there was none
  Marginals marginals;         // weighted; empty when all weights are 0
  // Why there are no standard errors; empty when there are. Large weights that were not met show neither in the
  // variance nor in ess, but the bound limits them: all n samples miss a region with a share p of Z with probability at
  // most exp(-p r), where r = n Z exp(-B). There are errors only for r >= kFewestHits and where the interval has a
  // lower end. All of them are by the delta method and at least 1 / r.
  std::string no_error;
  // Per variable the largest standard error of its marginal probabilities; also at least that of `ess` independent
  // samples. Empty without marginals, and where no_error says why.
  std::vector<double> marginal_errors;
  // The largest of all, and at least that of a probability of 1/2; 1 without errors.
  double marginals_error = 1.0;
};

inline constexpr double kFewestHits = 10.0;

// Any sampler with weights of at most exp(log_bound).
struct BoundedSampler {
  double log_bound = 0.0;  // -inf: Z = 0
  // Writes one sample to x, which has an element for every variable of the graph; returns its log-probability. May
  // look at `stop` within a long sample, and then throws Error (kInterrupted).
  std::function<double(std::span<int> x, Random& random, StopCheck& stop)> sample_into;
  // The same, but may give the sample up early where its weight is small (StoreApproximation::sample_or_give_up); may
  // be empty.
  std::function<double(std::span<int> x, Random& random, double least, StopCheck& stop)> sample_or_give_up = {};
};

// The observer is told the progress after every sample, and can end the run then: the result is the estimate so far.
BoundedImportance bounded_importance(const FactorGraph& graph, const BoundedSampler& sampler,
                                     const BoundedImportanceOptions& options, Random& random,
                                     const Observer& observer = {});
// `upper` is the sampler by upper bounds. Throws Error (kArgument) for another kind.
BoundedImportance bounded_importance(const FactorGraph& graph, const SearchApproximation& upper,
                                     const BoundedImportanceOptions& options, Random& random,
                                     const Observer& observer = {});

struct RejectionSamples {
  std::vector<Assignment> samples;  // exact and independent, but for log_error
  std::int64_t num_tries = 0;
  // Of the logarithm of a try's acceptance, at most, by rounding: the samples have the target's probabilities up to
  // factors of exp(2 log_error). Small unless large factors cancel.
  double log_error = 0.0;
  std::optional<Error> error = {};  // a factor failed permanently: these are the samples so far
  Spending spent = {};
};

struct RejectionOptions {
  std::int64_t num_samples = 1;
  std::int64_t max_tries = 10'000'000;
};

// Draws until enough draws are accepted, `max_tries` were made, or the observer, asked after every try, ends it. No
// samples when Z = 0 is known.
RejectionSamples rejection_samples(const FactorGraph& graph, const SearchApproximation& upper,
                                   const RejectionOptions& options, Random& random, const Observer& observer = {});

}  // namespace treesample
