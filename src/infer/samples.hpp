// What is drawn after a method: importance samples, and the samples that were asked for.
#pragma once

#include "infer/draft.hpp"
#include "infer/methods.hpp"
#include "treesample/reduce/reduced_model.hpp"

namespace treesample {

// Samples are in terms of the original model, everything else in the draft in terms of the reduced one.
void add_samples(Draft& draft, const Task& task, const ReducedModel& reduced);

// The share of the time at which weighted samples end, because these follow.
double samples_end(const Task& task);

}  // namespace treesample
