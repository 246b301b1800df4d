// One forward pass, and its backward pass, over the cones of several samples at once.
//
// The rows of a step are those of sample 0, then those of sample 1, and so on, so that every block runs once per
// iteration on all of them. Forward, each step gathers the inputs of its rows and applies the perceptron. Backward, it
// applies the derivative and scatters the gradients of the inputs.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nn/gnn_tables.hpp"

namespace treesample::nn {

struct PassSample {
  const Cone* cone = nullptr;
  const int* states = nullptr;
  PlanShift shift = {};
};

// The memory of one thread; its contents mean nothing between calls.
struct GnnMemory {
  // The following describe the current pass.
  std::vector<PassSample> samples;
  std::vector<int> start;              // per sample and step: position of its first row
  std::vector<int> step_rows;          // per step: rows of all samples
  std::vector<std::size_t> step_work;  // per step: start of its inputs and hidden layers in `work`
  FloatBuffer work;                    // per step: inputs (panels), hidden layers (3)
  FloatBuffer row_bias;
  FloatBuffer out;  // per position: the row's 16 outputs
  FloatBuffer q;    // read-out in panel layout, one row per sample

  // For the backward pass.
  FloatBuffer g_out;  // per position
  FloatBuffer g_q;
  FloatBuffer g_work;  // two hidden layers, g_first, gradients of the inputs
  FloatBuffer readout_transposed;

  // For a training step.
  GnnTables tables;
  TableGradients table_gradients;
  TransposedBlocks transposed;
  std::vector<const PlanData*> plans;
};

// Fills memory.q from memory.samples. With `keep` it stores what the backward pass needs.
void forward_pass(const Gnn& network, const GnnTables& tables, bool keep, GnnMemory& memory);

// After forward_pass with `keep` and with memory.g_q set: adds to `gradient` and to
// memory.table_gradients. Uses memory.transposed and memory.readout_transposed.
void backward_pass(const Gnn& network, const GnnTables& tables, GnnMemory& memory, std::span<float> gradient);

}  // namespace treesample::nn
