// Estimates from samples how far the mass and the marginals of a learned model are off.
//
// With A the sum over evaluated configurations, S the learned model, E = sum of exp(S) elsewhere, x_k ~ q elsewhere,
//
//   Z    = A + E + E_q[(gamma_hat(x) - exp(S(x))) / q(x)]
//   Z_va = A_va + E_va + E_q[[x_v = a] (gamma_hat(x) - exp(S(x))) / q(x)]      the mass of x_v = a.
//
// Both are unbiased, and exact if the model is exact. P(x_v = a) = Z_va / Z, with its error by the delta method.
#pragma once

#include <string>
#include <vector>

#include "treesample/model/approximation.hpp"
#include "treesample/surrogate/sampled_errors.hpp"

namespace treesample {

struct TargetSample {
  Assignment x;
  double log_target = 0.0;   // gamma_hat(x) / q(x)
  double log_learned = 0.0;  // exp(S(x)) / q(x)
  double log_q = 0.0;        // of x
};

// The log density of a configuration as it was predicted and as it turned out.
struct Foreseen {
  double predicted = 0.0, found = 0.0;
};

struct ErrorSettings {
  double confidence = 0.95;
  double log_spread = 0.0;  // standard deviation of log E over the posterior given the values; a part of the error
  std::vector<Foreseen> foreseen = {};  // earlier values; the samples tell the same of themselves
  std::string no_error = {};            // a reason for which there cannot be any
};

// `marginals` are those of P_X, with Z_X = A + E; the result has corrected ones.
SampledErrors difference_estimate(double log_asked, double log_elsewhere, const Marginals& marginals,
                                  const std::vector<TargetSample>& samples, const ErrorSettings& settings);

}  // namespace treesample
