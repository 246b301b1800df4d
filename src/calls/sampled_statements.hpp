// What samples of P_X with true values say of an answer.
#pragma once

#include "infer/knowledge.hpp"
#include "treesample/evaluate/importance.hpp"
#include "treesample/surrogate/sampled_errors.hpp"

namespace treesample {

// Of log Z.
ImportanceEstimate importance_of(const SampledErrors& errors);
// The corrected marginals; a guess where the samples do not support errors.
MarginalStatement marginals_of(const SampledErrors& errors);

}  // namespace treesample
