// Answers as tables: CSV files for spreadsheets and data frames.
#pragma once

#include <string>

#include "model_input.hpp"
#include "treesample/infer/answer.hpp"

namespace treesample::cli {

// variable,state,probability,error: one row per state, for the variables that were asked for, or for all. The error is
// the standard error if there is one: 0 for exact numbers, empty if it is not known.
void write_marginals(const Answer& answer, const FactorGraph& graph, const std::string& path);

// One column per variable, one row per sample, states by name.
void write_samples(const Answer& answer, const FactorGraph& graph, const std::string& path);

}  // namespace treesample::cli
