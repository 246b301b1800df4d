// The arithmetic of the networks: products of blocks of 16 x 16, with one version per instruction set, chosen at run
// time. All matrices are in the panel layout of nn/parameters.hpp: panel q of a matrix of R rows begins at q * R *
// kPanel.
//
// Each sum runs over the inputs in ascending order, whatever the number of rows, so that a batch gives the same bits as
// its rows one by one. Bits differ between machines with different instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "treesample/nn/parameters.hpp"

namespace treesample::nn {

// y = f(start + x W). `weight` points to the first row in use of a matrix with weight_rows rows.
struct DenseLayer {
  int rows = 0;
  int in_panels = 0;
  int out_panels = 1;
  const float* x = nullptr;
  const float* weight = nullptr;
  int weight_rows = 0;
  const float* bias = nullptr;      // start, the same for all rows; null means 0
  const float* row_bias = nullptr;  // start per row (rows x 16, one out panel), instead of `bias`
  const float* mask = nullptr;      // if set, y is 0 where mask (same shape as y) is 0: the derivative of ReLU
  bool relu = false;
  float* y = nullptr;
};
void dense_forward(const DenseLayer& layer);

// weight += x^T g and bias += column sums of g; `bias` may be null. x and g have `rows` rows.
struct DenseGradient {
  int rows = 0;
  int in_panels = 0;
  int out_panels = 1;
  const float* x = nullptr;
  const float* g = nullptr;
  float* weight = nullptr;
  int weight_rows = 0;
  float* bias = nullptr;
};
void dense_gradient(const DenseGradient& gradient);

// Writes the blocks of `weight` to `transposed` in such a way that g W^T is a dense_forward with it: in_panels and
// out_panels change places, and it has out_panels * 16 rows.
void transpose_blocks(const float* weight, int weight_rows, int in_panels, int out_panels, float* transposed);

// A layer whose inputs are 0 or 1. The inputs of row r that are 1 are indices[begin[r]] .. indices[begin[r + 1] - 1].
struct SparseLayer {
  int rows = 0;
  int out_panels = 1;
  const int* begin = nullptr;
  const int* indices = nullptr;
  int weight_rows = 0;
};
// y = relu(bias + x W).
void sparse_forward(const SparseLayer& layer, const float* weight, const float* bias, float* y);
// weight += x^T g and bias += column sums of g.
void sparse_gradient(const SparseLayer& layer, const float* g, float* weight, float* bias);

// The perceptrons of the graph network: three hidden ReLU layers and a linear output, all 16 wide. Layer 1 is
// `row_bias` + x W (as in DenseLayer). `tail` has the weights (16 x 16) and biases (16) of layers 2 to 4, one layer
// after the other. hidden1..3 and out are rows x 16.
inline constexpr int kBlock = kPanel * kPanel;
inline constexpr int kTailLayer = kBlock + kPanel;
inline constexpr int kTailLayers = 3;
struct PerceptronForward {
  int rows = 0;
  int in_panels = 0;
  const float* x = nullptr;
  const float* row_bias = nullptr;
  const float* weight = nullptr;
  const float* tail = nullptr;
  float* hidden = nullptr;  // hidden1, hidden2, hidden3, stored one after the other
  float* out = nullptr;
};
void perceptron_forward(const PerceptronForward& p);

// Given d loss / d out (`g_out`), adds to the gradients of weight and tail, and returns the gradients of the first
// layer's sums (`g_first`, also that of row_bias) and of x (`g_x`; may be null).
struct PerceptronBackward {
  int rows = 0;
  int in_panels = 0;
  const float* x = nullptr;
  const float* hidden = nullptr;
  const float* weight_transposed = nullptr;  // from transpose_blocks, in_panels blocks
  const float* tail_transposed = nullptr;    // three blocks
  const float* g_out = nullptr;
  float* work = nullptr;  // 2 x rows x 16
  float* g_first = nullptr;
  float* g_x = nullptr;
  float* g_weight = nullptr;
  float* g_tail = nullptr;
};
void perceptron_backward(const PerceptronBackward& p);

// One step of Adam over `count` entries (a multiple of 16); see nn/adam.hpp for the equations.
struct AdamStep {
  std::size_t count = 0;
  float beta1 = 0.0F;
  float beta2 = 0.0F;
  float step_size = 0.0F;     // learning rate / (1 - beta1^t)
  float second_scale = 0.0F;  // 1 / (1 - beta2^t)
  float epsilon = 0.0F;
  const float* gradient = nullptr;
  float* values = nullptr;
  float* first = nullptr;
  float* second = nullptr;
};
void adam_step(const AdamStep& step);

// Runs fused multiply-adds of full vectors at the full speed of the core: `rounds` rounds of 12 independent chains.
// Returns the number of floating-point operations. `sink` prevents the compiler from removing them.
double peak_flops_loop(std::int64_t rounds, float* sink);

// The kernels for one instruction set.
struct KernelSet {
  void (*dense_forward)(const DenseLayer& layer);
  void (*dense_gradient)(const DenseGradient& gradient);
  void (*sparse_forward)(const SparseLayer& layer, const float* weight, const float* bias, float* y);
  void (*sparse_gradient)(const SparseLayer& layer, const float* g, float* weight, float* bias);
  void (*perceptron_forward)(const PerceptronForward& p);
  void (*perceptron_backward)(const PerceptronBackward& p);
  void (*adam_step)(const AdamStep& step);
  double (*peak_flops_loop)(std::int64_t rounds, float* sink);
};
// Those that this machine can run, the fastest first.
std::vector<KernelSet> kernel_sets();
// For tests, while no other thread uses kernels: from now on, all calls use this set.
void use_kernels(const KernelSet& set);

}  // namespace treesample::nn
