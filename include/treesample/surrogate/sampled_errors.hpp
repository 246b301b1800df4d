// What samples with true values tell about the error of an answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "treesample/math/log_bounds.hpp"
#include "treesample/model/approximation.hpp"

namespace treesample {

// Estimates of log Z and the marginals from samples of P_X with true values.
struct SampledErrors {
  double log_z = 0.0;
  double std_error = 0.0;  // of log_z, by the delta method; +inf where no_error says why there is none
  LogBounds interval;      // of log_z, by Student's distribution: its coverage is about its confidence
  double confidence = 0.0;
  double ess = 0.0;  // effective number of the samples: (sum w)^2 / sum w^2 with w = gamma_hat / q
  std::int64_t num_samples = 0;
  Marginals marginals;
  std::vector<double> marginal_errors;  // by variable, the largest standard error of its probabilities
  std::string no_error = {};            // why there are no valid errors; empty when there are
};
// There are no errors, only guesses, where the relative standard error of Z is above kMostRelativeError; where samples
// stand for more than kShareThatMatters of Z, or may have missed it by what predictions are off, and fewer than
// kFewestEffectiveSamples (evaluate/importance.hpp), or less than kLeastEffectiveSamplesShare of them, are effective;
// and where predictions are off by so much that samples have met only a small part of what there may be.
inline constexpr double kMostRelativeError = 0.5, kShareThatMatters = 0.05, kLeastEffectiveSamplesShare = 0.3;

}  // namespace treesample
