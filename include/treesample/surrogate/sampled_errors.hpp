// Errors of an answer, estimated from samples whose true values were evaluated.
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
  double std_error = 0.0;  // of log_z, by the delta method; +inf if there is none, and no_error says why
  LogBounds interval;      // of log_z, by Student's distribution: its coverage is about its confidence
  double confidence = 0.0;
  double ess = 0.0;  // effective number of samples: (sum w)^2 / sum w^2 with w = gamma_hat / q
  std::int64_t num_samples = 0;
  Marginals marginals;
  std::vector<double> marginal_errors;  // by variable: the largest standard error of its probabilities
  std::string no_error = {};            // why there are no valid errors; empty if there are
};
// There are no errors, only guesses, in three cases: (1) the relative standard error of Z is above kMostRelativeError;
// (2) samples stand for more than kShareThatMatters of Z, while fewer than kFewestEffectiveSamples
// (evaluate/importance.hpp) or less than kLeastEffectiveSamplesShare of them are effective; (3) predictions are off by
// so much that samples may have met only a small part of the mass.
inline constexpr double kMostRelativeError = 0.5, kShareThatMatters = 0.05, kLeastEffectiveSamplesShare = 0.3;

}  // namespace treesample
