// Functions whose variables are all observed. Their values are constants that are asked for while the evidence is
// applied, before a method begins; they are calls like all others.
#pragma once

#include "infer/run.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/reduce/reduced_model.hpp"

namespace treesample {

std::int64_t num_decided(const Model& model);

// condition(), which asks for them. Throws OptionError where the limits do not pay for them or the time ends before.
ReducedModel condition_with_calls(const Model& model, const InferRequest& request, const Run& run);

// The model with constants in the place of these functions, for plans, which must not call anything.
Model without_decided(const Model& model);

// Where there are no other functions, limits of calls mean nothing to a method.
void forget_calls(InferRequest& request);

}  // namespace treesample
