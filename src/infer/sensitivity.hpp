// Derivatives with respect to the entries of tables, and the value of one more observation, by elimination.
#pragma once

#include "infer/run.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {

// Throws OptionError for unknown and observed variables, for circuits, and for models with functions.
void check_sensitivity(const Model& model, const Question& question);

// Adds what Question::sensitivity and Question::value_for ask for; a remark where elimination does not fit.
void add_sensitivity(Answer& answer, const Model& model, const InferRequest& request, const Run& run);

}  // namespace treesample
