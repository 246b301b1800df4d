// What samples say about a model that was learned: how far its mass and its marginals are off.
//
// With A the sum of what was asked, E = sum of exp(S) elsewhere, S the learned model, x_k ~ q elsewhere,
//
//   Z    = A + E + E_q[(gamma_hat(x) - exp(S(x))) / q(x)]
//   Z_va = A_va + E_va + E_q[[x_v = a] (gamma_hat(x) - exp(S(x))) / q(x)]      the mass of x_v = a.
//
// Both are unbiased, and exact where the model is. P(x_v = a) = Z_va / Z, with its error by the delta method.
#pragma once

#include <vector>

#include "treesample/model/approximation.hpp"
#include "treesample/surrogate/learned_search.hpp"

namespace treesample {

struct WeighedSample {
  Assignment x;
  double log_target = 0.0;   // gamma_hat(x) / q(x)
  double log_learned = 0.0;  // exp(S(x)) / q(x)
};

struct ErrorSettings {
  double confidence = 0.95;
  double log_spread = 0.0;  // standard deviation of log E over what the values leave open; counts as an error too
};

// `marginals` are those of P_X, whose Z_X is A + E: the result has them corrected.
SampledErrors difference_estimate(double log_asked, double log_elsewhere, const Marginals& marginals,
                                  const std::vector<WeighedSample>& samples, const ErrorSettings& settings);

}  // namespace treesample
