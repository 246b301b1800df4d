// What follows the answer of a method: a proof for its best configuration, the k best, marginal MAP.
#pragma once

#include "infer/run.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {

// The variables of Question::map. Throws OptionError for one that there is not or that is named twice, and for a
// question that a model with functions or a circuit has no answer to.
std::vector<int> map_variables(const Model& model, const Question& question);

// The share of the time limit that the method gets: the rest is for what follows.
double method_share(const Model& model, const InferRequest& request);

// Adds to the answer what was asked. `run` is the whole run. False when there was nothing to do.
bool add_most_probable(Answer& answer, const Model& model, const InferRequest& request, const Run& run);

}  // namespace treesample
