// Importance sampling: log Z of a target from samples of any approximation P_X.
//
//   w_i = gamma_hat(x_i) / P_X(x_i),  x_i ~ P_X,      Z = E[w]
//
// The mean weight is an unbiased estimate of Z wherever P_X covers the support of the target. A search with uniform
// leaf values covers it. A leaf value or a particle set that excludes possible states does not, and then the mean
// weight estimates the mass that is covered. All arithmetic is on log w_i.
#pragma once

#include <optional>
#include <string>

#include "treesample/error.hpp"
#include "treesample/model/approximation.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

struct ImportanceEstimate {
  double log_z = 0.0;  // log of the mean weight; -inf if all weights are 0
  // Standard error of log_z by the delta method: the relative standard error of the mean weight. 0 if P_X is exact;
  // +inf if the weights tell nothing about it, and no_error then says why.
  double std_error = 0.0;
  std::string no_error = {};  // empty if there is a standard error
  double ess = 0.0;           // effective sample size (sum w)^2 / sum w^2, 1 to num_samples; 0 if all weights are 0
  int num_samples = 0;        // fewer than requested if the observer ended it, or a factor failed or was interrupted
  // The cost of evaluating the samples: a reward per variable and sample, and the factors that were read (none after
  // the first -inf; constants are free, as in the search).
  Spending spent;
  std::optional<Error> error = {};  // set if a factor failed permanently: this is the estimate so far
  // The sample with the largest gamma_hat. x is empty if there were no samples; the density is -inf if all are
  // impossible.
  Configuration best;
};

// A sample of heavy-tailed weights underestimates their variance: a few weights make up most of the sum, and larger
// ones have not been met. So there is a standard error only with at least this number of effective samples, and with at
// least this share of all samples. A region that P_X hardly ever reaches shows in no sample, and so not in the standard
// error either.
inline constexpr double kFewestEffectiveSamples = 10.0, kLeastEffectiveShare = 0.01;
// A search that gives nearly all of its mass to evaluated configurations, which all have the same weight, looks exact.
// So there is no standard error if fewer samples than this are expected outside of them, where P_X has the mass
// `unexplored`.
inline constexpr double kFewestOutside = 10.0;
void distrust_if_blind(ImportanceEstimate& estimate, double unexplored);

// The graph and the approximation must have the same variables. An approximation without any state of positive
// probability (Z = 0) gives log_z = -inf with std_error 0 and no samples. Throws Error (kArgument) for num_samples < 1.
// The observer is told the progress after each sample and can end the run then; the result is the estimate so far.
ImportanceEstimate importance_estimate(const FactorGraph& graph, const Approximation& approximation, int num_samples,
                                       Random& random, const Observer& observer = {});

}  // namespace treesample
