// The blocks of a graph network: perceptrons with three hidden ReLU layers and a linear output, all 16 wide.
#pragma once

#include "nn/device/kernels_common.hpp"

namespace treesample::nn::device {

inline constexpr int kSquare = kWide * kWide;
inline constexpr int kHidden = 3;
inline constexpr int kLayers = kHidden + 1;

// Offsets in a block's parameters, from BlockShape::weight on.
TS_KERNEL inline std::size_t one_hot_at(const BlockShape& b) { return static_cast<std::size_t>(b.panels) * kSquare; }
TS_KERNEL inline std::size_t encoding_at(const BlockShape& b) {
  return one_hot_at(b) + static_cast<std::size_t>(b.num_one_hot) * kWide;
}
TS_KERNEL inline std::size_t bias_at(const BlockShape& b) {
  return encoding_at(b) + static_cast<std::size_t>(b.num_encoding) * kWide;
}
TS_KERNEL inline std::size_t layer_at(const BlockShape& b, int layer) {  // 1 .. kHidden
  return bias_at(b) + kWide + static_cast<std::size_t>(layer - 1) * (kSquare + kWide);
}
TS_KERNEL inline std::size_t block_size(const BlockShape& b) { return layer_at(b, kLayers); }

// sum += x W, and sum += W g.
TS_KERNEL inline void multiply(const float* weight, const float* x, float* sum) {
  for (int k = 0; k < kWide; ++k) {
    for (int c = 0; c < kWide; ++c) sum[c] += x[k] * weight[k * kWide + c];
  }
}
TS_KERNEL inline void multiply_transposed(const float* weight, const float* g, float* sum) {
  for (int k = 0; k < kWide; ++k) {
    for (int c = 0; c < kWide; ++c) sum[k] += g[c] * weight[k * kWide + c];
  }
}
TS_KERNEL inline void add_row(const float* from, float* to) {
  for (int c = 0; c < kWide; ++c) to[c] += from[c];
}
TS_KERNEL inline void copy_row(const float* from, float* to) {
  for (int c = 0; c < kWide; ++c) to[c] = from[c];
}

// The arrays of GnnRows, and per row: inputs and g_inputs (kMostPanels x 16), hidden (kHidden x 16), g_sums (kLayers x
// 16: the gradients of each layer's sums), out and g_out (16).
struct GnnArrays {
  const float* parameters;
  const BlockShape* blocks;
  const int* block;
  const int* state;
  const int* encoding;
  const float* encodings;
  const int* input_begin;
  const int* inputs;
  const int* reader_begin;
  const int* readers;
  float* x;
  float* hidden;
  float* out;
  float* g_x;
  float* g_sums;
  float* g_out;
};

// Thread: one row of a group.
struct BlockForward {
  GnnArrays on;
  std::size_t first;
  TS_KERNEL void operator()(std::size_t i) const {
    const std::size_t row = first + i;
    const BlockShape shape = on.blocks[on.block[row]];
    const float* const weight = on.parameters + shape.weight;
    float sum[kWide], x[kWide];
    copy_row(weight + bias_at(shape), sum);
    if (on.state[row] >= 0) add_row(weight + one_hot_at(shape) + static_cast<std::size_t>(on.state[row]) * kWide, sum);
    if (on.encoding[row] >= 0) {
      copy_row(on.encodings + static_cast<std::size_t>(on.encoding[row]) * kWide, x);
      multiply(weight + encoding_at(shape), x, sum);
    }
    for (int p = 0; p < shape.panels; ++p) {
      const std::size_t at = row * kMostPanels + static_cast<std::size_t>(p);
      if (on.input_begin[at] == on.input_begin[at + 1]) continue;
      for (float& value : x) value = 0.0F;
      for (int k = on.input_begin[at]; k < on.input_begin[at + 1]; ++k) {
        add_row(on.out + static_cast<std::size_t>(on.inputs[k]) * kWide, x);
      }
      copy_row(x, on.x + at * kWide);
      multiply(weight + static_cast<std::size_t>(p) * kSquare, x, sum);
    }
    for (int layer = 1; layer <= kHidden; ++layer) {
      for (int c = 0; c < kWide; ++c) x[c] = sum[c] > 0.0F ? sum[c] : 0.0F;
      copy_row(x, on.hidden + (row * kHidden + static_cast<std::size_t>(layer - 1)) * kWide);
      const float* const next = weight + layer_at(shape, layer);
      copy_row(next + kSquare, sum);
      multiply(next, x, sum);
    }
    copy_row(sum, on.out + row * kWide);
  }
};

// Thread: one row of a group; groups run from the last to the first, after the read-out has set g_out.
struct BlockBackward {
  GnnArrays on;
  std::size_t first;
  TS_KERNEL void operator()(std::size_t i) const {
    const std::size_t row = first + i;
    const BlockShape shape = on.blocks[on.block[row]];
    const float* const weight = on.parameters + shape.weight;
    float g[kWide], below[kWide];
    copy_row(on.g_out + row * kWide, g);
    for (int k = on.reader_begin[row]; k < on.reader_begin[row + 1]; ++k) {
      add_row(on.g_x + static_cast<std::size_t>(on.readers[k]) * kWide, g);
    }
    for (int layer = kHidden; layer > 0; --layer) {
      copy_row(g, on.g_sums + (row * kLayers + static_cast<std::size_t>(layer)) * kWide);
      for (float& value : below) value = 0.0F;
      multiply_transposed(weight + layer_at(shape, layer), g, below);
      const float* const hidden = on.hidden + (row * kHidden + static_cast<std::size_t>(layer - 1)) * kWide;
      for (int c = 0; c < kWide; ++c) g[c] = hidden[c] > 0.0F ? below[c] : 0.0F;
    }
    copy_row(g, on.g_sums + row * kLayers * kWide);
    for (int p = 0; p < shape.panels; ++p) {
      const std::size_t at = row * kMostPanels + static_cast<std::size_t>(p);
      if (on.input_begin[at] == on.input_begin[at + 1]) continue;
      for (float& value : below) value = 0.0F;
      multiply_transposed(weight + static_cast<std::size_t>(p) * kSquare, g, below);
      copy_row(below, on.g_x + at * kWide);
    }
  }
};

// The gradient of one block from some of its rows. Thread: one parameter and one run of `run` rows; `part` has a row of
// block_size() per run.
struct BlockGradient {
  GnnArrays on;
  BlockShape shape;
  const int* rows;
  std::size_t num_rows;
  std::size_t run;
  float* part;
  // The input that parameter (k, c) of the block is multiplied with in a row.
  TS_KERNEL float input(std::size_t row, std::size_t k, int layer) const {
    if (layer > 0) {
      return k == kWide ? 1.0F : on.hidden[(row * kHidden + static_cast<std::size_t>(layer - 1)) * kWide + k];
    }
    const auto panels = static_cast<std::size_t>(shape.panels) * kWide;
    const auto one_hot = panels + static_cast<std::size_t>(shape.num_one_hot);
    const auto encoding = one_hot + static_cast<std::size_t>(shape.num_encoding);
    if (k < panels) {
      const std::size_t at = row * kMostPanels + k / kWide;
      return on.input_begin[at] == on.input_begin[at + 1] ? 0.0F : on.x[at * kWide + k % kWide];
    }
    if (k < one_hot) return static_cast<std::size_t>(on.state[row]) == k - panels ? 1.0F : 0.0F;
    if (k == encoding) return 1.0F;  // the bias
    return on.encoding[row] < 0 ? 0.0F : on.encodings[static_cast<std::size_t>(on.encoding[row]) * kWide + k - one_hot];
  }
  TS_KERNEL void operator()(std::size_t i) const {
    const std::size_t size = block_size(shape);
    const std::size_t entry = i % size;
    const std::size_t begin = i / size * run;
    const std::size_t end = begin + run < num_rows ? begin + run : num_rows;
    int layer = kHidden;
    while (layer > 0 && entry < layer_at(shape, layer)) --layer;
    const std::size_t k = (entry - (layer > 0 ? layer_at(shape, layer) : 0)) / kWide;
    const std::size_t c = entry % kWide;  // layers begin at multiples of 16
    float sum = 0.0F;
    for (std::size_t r = begin; r < end; ++r) {
      const auto row = static_cast<std::size_t>(rows[r]);
      sum += input(row, k, layer) * on.g_sums[(row * kLayers + static_cast<std::size_t>(layer)) * kWide + c];
    }
    part[i] = sum;
  }
};

// values = the sum of `num_parts` arrays. Thread: one entry.
struct SumOfParts {
  std::size_t size;
  std::size_t num_parts;
  const float* parts;
  float* values;
  TS_KERNEL void operator()(std::size_t i) const {
    float sum = 0.0F;
    for (std::size_t p = 0; p < num_parts; ++p) sum += parts[p * size + i];
    values[i] = sum;
  }
};

// to[i] = from[places[i]], and to[places[i]] = from[i], in rows of 16. Thread: one number.
struct GatherRows {
  const int* places;
  const float* from;
  float* to;
  TS_KERNEL void operator()(std::size_t i) const {
    to[i] = from[static_cast<std::size_t>(places[i / kWide]) * kWide + i % kWide];
  }
};
struct ScatterRows {
  const int* places;
  const float* from;
  float* to;
  TS_KERNEL void operator()(std::size_t i) const {
    to[static_cast<std::size_t>(places[i / kWide]) * kWide + i % kWide] = from[i];
  }
};
struct SetZero {
  float* values;
  TS_KERNEL void operator()(std::size_t i) const { values[i] = 0.0F; }
};

}  // namespace treesample::nn::device
