// Functions whose variables are all observed. Their values are constants that are asked for while the evidence is
// applied, before a method begins; they are calls like all others.
#pragma once

#include <utility>

#include "infer/run.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/reduce/reduced_model.hpp"

namespace treesample {

// How many there are, and the seconds that they cost, as far as these are declared.
Spending decided_calls(const Model& model);

// condition(), which asks for them, and what they cost. Throws OptionError where the limits do not pay for them or the
// time ends before.
std::pair<ReducedModel, Spending> condition_with_calls(const Model& model, const InferRequest& request, const Run& run);

// The model with constants in the place of these functions, for plans, which must not call anything.
Model without_decided(const Model& model);

// Where there are no other functions, limits of calls mean nothing to a method.
void forget_calls(InferRequest& request);

}  // namespace treesample
