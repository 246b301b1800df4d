// The first layer of a perceptron, whose inputs are 0 or 1.
#pragma once

#include "nn/device/kernels_common.hpp"

namespace treesample::nn::device {

// y = relu(bias + the rows of W at the ones). Thread: one output of one row.
struct OnesForward {
  DenseShape shape;
  const float* parameters;
  const int* begin;
  const int* indices;
  float* y;
  TS_KERNEL void operator()(std::size_t i) const {
    const auto outputs = static_cast<std::size_t>(shape.outputs);
    const int column = static_cast<int>(i % outputs);
    const std::size_t row = i / outputs;
    float sum = parameters[shape.bias + static_cast<std::size_t>(column)];
    for (int k = begin[row]; k < begin[row + 1]; ++k) {
      sum += parameters[shape.weight + weight_at(shape.inputs, indices[k], column)];
    }
    y[i] = sum > 0.0F ? sum : 0.0F;
  }
};

// The gradient of W. Thread: one output of one input.
struct OnesGradient {
  DenseShape shape;
  const int* reader_begin;
  const int* readers;
  const float* g;
  float* gradient;
  TS_KERNEL void operator()(std::size_t i) const {
    const auto outputs = static_cast<std::size_t>(shape.outputs);
    const int column = static_cast<int>(i % outputs);
    const int input = static_cast<int>(i / outputs);
    float sum = 0.0F;
    for (int k = reader_begin[input]; k < reader_begin[input + 1]; ++k) {
      sum += g[static_cast<std::size_t>(readers[k]) * outputs + column];
    }
    gradient[shape.weight + weight_at(shape.inputs, input, column)] = sum;
  }
};

}  // namespace treesample::nn::device
