// The kernels of both networks on a device. In each, body(i) is the work of thread i. No two threads write to the same
// place, and no thread reads what another one writes, so that a loop over i gives the same result. Compiled by the C++
// compiler for tests, and by the CUDA compiler.
#pragma once

#include <cmath>
#include <cstddef>

#include "nn/device/flat.hpp"

#if defined(__CUDACC__)
#define TS_KERNEL __host__ __device__
#else
#define TS_KERNEL
#endif

namespace treesample::nn::device {

inline constexpr int kWide = 16;  // kPanel of nn/parameters.hpp
// Rows of activations (or of weights) for which one thread computes a column: every weight that it reads serves all of
// them. Arrays of activations have room for a multiple of this.
inline constexpr int kTile = 8;

TS_KERNEL inline std::size_t weight_at(int inputs, int input, int output) {
  return (static_cast<std::size_t>(output / kWide) * static_cast<std::size_t>(inputs) +
          static_cast<std::size_t>(input)) *
             kWide +
         static_cast<std::size_t>(output % kWide);
}

// y = f(bias + x W), with x and y row-major. Thread: kTile rows of one output.
struct DenseForward {
  DenseShape shape;
  bool relu;
  const float* parameters;
  const float* x;
  float* y;
  TS_KERNEL void operator()(std::size_t i) const {
    const auto outputs = static_cast<std::size_t>(shape.outputs), inputs = static_cast<std::size_t>(shape.inputs);
    const int column = static_cast<int>(i % outputs);
    const std::size_t row = i / outputs * kTile;
    const float* const weight = parameters + shape.weight;
    float sum[kTile];
    for (float& s : sum) s = parameters[shape.bias + static_cast<std::size_t>(column)];
    for (int k = 0; k < shape.inputs; ++k) {
      const float w = weight[weight_at(shape.inputs, k, column)];
      for (int r = 0; r < kTile; ++r) sum[r] += x[(row + r) * inputs + k] * w;
    }
    for (int r = 0; r < kTile; ++r) {
      y[(row + r) * outputs + column] = relu && !(sum[r] > 0.0F) ? 0.0F : sum[r];
    }
  }
};

// g_x = g W^T, and 0 where x is 0 if x is the output of a ReLU. Thread: kTile rows of one input.
struct DenseBackward {
  DenseShape shape;
  bool relu;
  const float* parameters;
  const float* x;
  const float* g;
  float* g_x;
  TS_KERNEL void operator()(std::size_t i) const {
    const auto outputs = static_cast<std::size_t>(shape.outputs), inputs = static_cast<std::size_t>(shape.inputs);
    const int k = static_cast<int>(i % inputs);
    const std::size_t row = i / inputs * kTile;
    const float* const weight = parameters + shape.weight;
    float sum[kTile] = {};
    for (int c = 0; c < shape.outputs; ++c) {
      const float w = weight[weight_at(shape.inputs, k, c)];
      for (int r = 0; r < kTile; ++r) sum[r] += g[(row + r) * outputs + c] * w;
    }
    for (int r = 0; r < kTile; ++r) {
      const std::size_t at = (row + r) * inputs + k;
      g_x[at] = relu && !(x[at] > 0.0F) ? 0.0F : sum[r];
    }
  }
};

// weight = x^T g. Thread: kTile inputs of one output.
struct DenseGradient {
  DenseShape shape;
  int rows;
  const float* x;
  const float* g;
  float* gradient;
  TS_KERNEL void operator()(std::size_t i) const {
    const auto outputs = static_cast<std::size_t>(shape.outputs), inputs = static_cast<std::size_t>(shape.inputs);
    const int column = static_cast<int>(i % outputs);
    const int first = static_cast<int>(i / outputs) * kTile;  // the number of inputs is a multiple of kWide
    float sum[kTile] = {};
    for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
      const float g_here = g[r * outputs + column];
      for (int k = 0; k < kTile; ++k) sum[k] += x[r * inputs + first + k] * g_here;
    }
    for (int k = 0; k < kTile; ++k) gradient[shape.weight + weight_at(shape.inputs, first + k, column)] = sum[k];
  }
};

// bias = column sums of g. Thread: one output.
struct BiasGradient {
  DenseShape shape;
  int rows;
  const float* g;
  float* gradient;
  TS_KERNEL void operator()(std::size_t i) const {
    float sum = 0.0F;
    for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) sum += g[r * shape.outputs + i];
    gradient[shape.bias + i] = sum;
  }
};

// error = (1 / rows) sum over a of the squared distance to the target's interval, and its derivative g. Thread: one
// row.
struct IntervalError {
  int rows;
  int num_states;
  const float* q;
  const float* low;
  const float* high;
  float* g;
  double* error;
  TS_KERNEL void operator()(std::size_t row) const {
    const double scale = 1.0 / rows;
    double sum = 0.0;
    for (int a = 0; a < num_states; ++a) {
      const std::size_t at = row * static_cast<std::size_t>(num_states) + static_cast<std::size_t>(a);
      const double value = q[at];
      double nearest = value;
      if (value > high[at]) nearest = high[at];
      if (value < low[at]) nearest = low[at];
      const double difference = std::isinf(high[at]) ? 0.0 : value - nearest;  // NaN where the value is NaN
      sum += difference * difference * scale;
      g[at] = static_cast<float>(2.0 * scale * difference);
    }
    error[row] = sum;
  }
};

// The largest absolute value of every stride-th entry. Thread: one of `stride`.
struct LargestValue {
  std::size_t size;
  std::size_t stride;
  const float* values;
  float* largest;
  TS_KERNEL void operator()(std::size_t i) const {
    float most = 0.0F;
    for (std::size_t k = i; k < size; k += stride) {
      const float value = std::fabs(values[k]);
      if (!(value <= most)) most = std::isnan(value) ? HUGE_VALF : value;
    }
    largest[i] = most;
  }
};

// nn/adam.hpp has the equations. Thread: one parameter.
struct AdamUpdate {
  AdamCoefficients with;
  const float* gradient;
  float* values;
  float* first;
  float* second;
  TS_KERNEL void operator()(std::size_t i) const {
    const float g = gradient[i];
    first[i] = with.beta1 * first[i] + (1.0F - with.beta1) * g;
    second[i] = with.beta2 * second[i] + (1.0F - with.beta2) * g * g;
    values[i] -= with.step_size * first[i] / (std::sqrt(second[i] * with.second_scale) + with.epsilon);
  }
};

}  // namespace treesample::nn::device
