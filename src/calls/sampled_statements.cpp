#include "calls/sampled_statements.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "treesample/text.hpp"

namespace treesample {

ImportanceEstimate importance_of(const SampledErrors& errors) {
  return {.log_z = errors.log_z,
          .std_error = errors.std_error,
          .no_error = errors.no_error,
          .ess = errors.ess,
          .num_samples = static_cast<int>(errors.num_samples)};
}

MarginalStatement marginals_of(const SampledErrors& errors) {
  MarginalStatement marginals{.values = errors.marginals, .why_no_error = errors.no_error};
  marginals.from = fmt::format("of P_X, corrected by {} with true values", counted(errors.num_samples, "sample"));
  marginals.is_called_a_guess = !errors.no_error.empty();
  if (errors.no_error.empty()) {
    marginals.trust = Trust::kSampled;
    marginals.errors = errors.marginal_errors;
    marginals.largest_error = *std::max_element(marginals.errors.begin(), marginals.errors.end());
  }
  return marginals;
}

}  // namespace treesample
