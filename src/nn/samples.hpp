// Samples in the form that the networks take: their checks, and the inputs of a perceptron that are 1.
#pragma once

#include <span>
#include <vector>

#include "treesample/nn/gnn.hpp"
#include "treesample/nn/mlp.hpp"

namespace treesample::nn {

// Both throw kArgument, naming `function`.
void check_gnn_sample(const char* function, const GnnOptions& options, const GnnSample& sample);
void check_mlp_sample(const char* function, const MlpOptions& options, std::span<const int> states, int variable);

// Appends the inputs of a perceptron that are 1, in ascending order.
void append_ones(const MlpOptions& options, std::span<const int> states, int variable, std::vector<int>& indices);

}  // namespace treesample::nn
