// How long it takes to show an answer.
#pragma once

#include <vector>

#include "model_input.hpp"
#include "treesample/infer/answer.hpp"

namespace treesample::cli {

// The processor time that printing the samples will take, estimated with some of them: --time has to leave room for it.
double seconds_to_show_samples(const std::vector<Assignment>& samples, const FactorGraph& graph, bool as_text,
                               bool as_json);

}  // namespace treesample::cli
