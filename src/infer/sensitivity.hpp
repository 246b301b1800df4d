// Derivatives by the entries of tables, and the value of one more observation, by elimination.
#pragma once

#include "infer/run.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {

// Throws OptionError for a question about what there is not, and for models of functions.
void check_sensitivity(const Model& model, const Question& question);

// Adds what Question::sensitivity and Question::value_for ask for; where elimination does not fit, a remark.
void add_sensitivity(Answer& answer, const Model& model, const InferRequest& request, const Run& run);

}  // namespace treesample
