// What is drawn once a method is done: importance samples, and the samples that were asked for.
#pragma once

#include "infer/draft.hpp"
#include "infer/methods.hpp"
#include "treesample/reduce/reduced_model.hpp"

namespace treesample {

// Samples are those of the original model, everything else of the draft is in terms of the reduced one.
void add_samples(Draft& draft, const Task& task, const ReducedModel& reduced);

}  // namespace treesample
