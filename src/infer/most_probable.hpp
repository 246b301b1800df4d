// What follows the answer of a method: a proof for its best configuration, the k best, marginal MAP.
#pragma once

#include "infer/answer_phases.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {

// The variables of Question::map. Throws OptionError for an unknown or repeated one, and for questions that a model
// with functions or a circuit cannot answer.
std::vector<int> map_variables(const Model& model, const Question& question);

// Whether the best configuration may need a proof: where the user has not set up a search of their own.
bool wants_proof(const Model& model, const InferRequest& request);
// The rows that search for most probable states (answer_phases.cpp).
void find_best_configurations(Asking& asking);
void find_marginal_map(Asking& asking);
void prove_best(Asking& asking);

}  // namespace treesample
