// Importance sampling with weights that cannot exceed a known bound: log Z with limits that hold at a stated
// confidence after any number of samples, marginals with standard errors, and exact samples by rejection.
//
//   w_i = gamma_hat(x_i) / P_U(x_i) <= exp(B),     z_i = w_i exp(-B) in [0, 1],     Z = exp(B) E[z]
//
// Limits of E[z] by betting (Waudby-Smith and Ramdas 2024; src/evaluate/betting.hpp) hold with probability at least
// 1 - delta, at whatever moment the sampling ends: no asymptotic statement. A draw accepted with probability z has the
// target's distribution; it takes exp(B) / Z tries on average.
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

// Configurations whose sum is known, as those of a cutset (exact/cutset.hpp) are: samples only have to tell the rest,
//
//   Z = exp(log_mass) + exp(B) E[z 1(x is none of them)],
//
// whose limits are as many nats shorter as less of Z is left. To be chosen before the samples are drawn.
struct KnownPart {
  LogBounds log_mass{kNegInf, kNegInf};  // certified
  double estimate = kNegInf;             // of log_mass
  std::function<bool(std::span<const int> x)> holds = {};
};

struct BoundedImportanceOptions {
  std::int64_t max_samples = 10'000;
  double confidence = 0.95;  // of the interval
  // How many samples there will be, after so many, where that is not max_samples: makes the interval short. Not to be
  // chosen by looking at the samples that are still to come.
  std::function<double(std::int64_t num_drawn)> expected_samples = {};
  // For log_z, its error and its interval; marginals and the effective sample size are those of all samples.
  std::optional<KnownPart> known = {};
  // That draw samples of models made of tables, side by side, each with a copy of the sampler and of `known`, which
  // must allow for that; the same bits for any number. Functions are called by one thread.
  int threads = 1;

  void validate() const;
};

struct BoundedImportance {
  // Log of the mean weight, or of what is known and the mean weight of the rest; -inf when all of it is 0.
  double log_z = 0.0;
  LogBounds interval;  // of log Z, at `confidence`
  double confidence = 0.0;
  double std_error = 0.0;  // of log_z, see below; +inf when nothing is known of it
  double ess = 0.0;        // effective sample size
  std::int64_t num_samples = 0;
  std::optional<Error> error;  // a factor failed for good: this is the estimate so far
  Spending spent;              // what evaluating the samples cost
  Configuration best;          // the sample with the largest density; empty x when there was none
  Marginals marginals;         // weighted; empty when all weights are 0
  // Why there are no standard errors; empty when there are. Large weights that were not met show neither in the
  // variance nor in ess, but the bound limits them: a region with a share p of Z is missed by all n samples with
  // probability exp(-p r) at most, where r = n Z exp(-B). Errors are made only from r >= kFewestHits on and where the
  // interval has a lower end. All of them are by the delta method and not below 1 / r.
  std::string no_error;
  // Per variable the largest standard error of its marginal probabilities: not below that of as many independent
  // samples as are effective either. Empty without marginals, and where no_error says why.
  std::vector<double> marginal_errors;
  // The largest of all, and not below that of probability 1/2; 1 without errors.
  double marginals_error = 1.0;
};

inline constexpr double kFewestHits = 10.0;

// Any sampler with weights of at most exp(log_bound).
struct BoundedSampler {
  double log_bound = 0.0;  // -inf: Z = 0
  // One sample into x, which has a place for every variable of the graph; returns its log-probability.
  std::function<double(std::span<int> x, Random& random)> sample_into;
  // The same, given up early where its weight is small (StoreApproximation::sample_or_give_up); may be empty.
  std::function<double(std::span<int> x, Random& random, double least)> sample_or_give_up = {};
};

// The observer is told, and asked, after every sample: the estimate is then the one so far.
BoundedImportance bounded_importance(const FactorGraph& graph, const BoundedSampler& sampler,
                                     const BoundedImportanceOptions& options, Random& random,
                                     const Observer& observer = {});
// `upper` is the sampler by upper bounds. Throws Error (kArgument) for another kind.
BoundedImportance bounded_importance(const FactorGraph& graph, const SearchApproximation& upper,
                                     const BoundedImportanceOptions& options, Random& random,
                                     const Observer& observer = {});

struct RejectionSamples {
  std::vector<Assignment> samples;  // exact and independent
  std::int64_t num_tries = 0;
};

struct RejectionOptions {
  std::int64_t num_samples = 1;
  std::int64_t max_tries = 10'000'000;
};

// Until enough draws are accepted or `max_tries` made, or the observer, asked after every try, wants no more; none when
// Z = 0 is known.
RejectionSamples rejection_samples(const FactorGraph& graph, const SearchApproximation& upper,
                                   const RejectionOptions& options, Random& random, const Observer& observer = {});

}  // namespace treesample
