// What follows the answer of a method: a proof for its best configuration, the k best, marginal MAP.
#pragma once

#include "infer/run.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {

// The variables of Question::map. Throws OptionError for an unknown or repeated one, and for questions that a model
// with functions or a circuit cannot answer.
std::vector<int> map_variables(const Model& model, const Question& question);

// The share of the time limit that the method gets; the rest is for what follows.
double method_share(const Model& model, const InferRequest& request);

// Adds what was asked for. `run` is the whole run. Returns false when there was nothing to do.
bool add_most_probable(Answer& answer, const Model& model, const InferRequest& request, const Run& run);

}  // namespace treesample
