// Both networks on a device, for any Backend:
//
//     Backend::Array<T>                 memory there: resize (contents are lost), assign, read, data
//     Backend::for_each(count, body)    body(0) .. body(count - 1), in any order
//
// Tests run all of it on the processor (host_engine.cpp); cuda_engine.cu adds the launch.
#pragma once

#include <algorithm>
#include <numeric>

#include "nn/device/kernels_common.hpp"
#include "nn/device/kernels_gnn.hpp"
#include "nn/device/kernels_mlp.hpp"

namespace treesample::nn::device {

inline std::size_t tiles_of(int rows) { return static_cast<std::size_t>((rows + kTile - 1) / kTile); }

template <typename Backend, typename Rows>
class EngineOn : public Engine<Rows> {
 protected:
  template <typename T>
  using Array = typename Backend::template Array<T>;

 public:
  explicit EngineOn(std::size_t num_parameters) : num_parameters_(num_parameters) {
    gradient_.assign(std::vector<float>(num_parameters));  // the padding of matrices stays 0
    largest_.resize(kStride);
  }

  void write(std::span<const float> values, std::span<const float> first, std::span<const float> second) override {
    values_.assign(values);
    first_.assign(first);
    second_.assign(second);
  }
  void read(std::span<float> values, std::span<float> first, std::span<float> second) const override {
    values_.read(values);
    first_.read(first);
    second_.read(second);
  }
  void read_gradient(std::span<float> gradient) const override { gradient_.read(gradient); }

  float largest_gradient() override {
    Backend::for_each(kStride, LargestValue{num_parameters_, kStride, gradient_.data(), largest_.data()});
    std::vector<float> largest(kStride);
    largest_.read(largest);
    return *std::max_element(largest.begin(), largest.end());
  }

  void adam_step(const AdamCoefficients& coefficients) override {
    Backend::for_each(num_parameters_,
                      AdamUpdate{coefficients, gradient_.data(), values_.data(), first_.data(), second_.data()});
  }

  double set_gradient(const Rows& rows, const Targets& targets) override {
    const int num_samples = rows.num_samples();
    const int num_states = static_cast<int>(targets.low.size()) / num_samples;
    low_.assign(targets.low);
    high_.assign(targets.high);
    errors_.resize(static_cast<std::size_t>(num_samples));
    g_q_.resize(tiles_of(num_samples) * kTile * static_cast<std::size_t>(num_states));
    const float* const q = forward(rows);
    Backend::for_each(static_cast<std::size_t>(num_samples), IntervalError{num_samples, num_states, q, low_.data(),
                                                                           high_.data(), g_q_.data(), errors_.data()});
    backward(rows, g_q_.data());
    std::vector<double> errors(static_cast<std::size_t>(num_samples));
    errors_.read(errors);
    return std::accumulate(errors.begin(), errors.end(), 0.0);
  }

  void q_values(const Rows& rows, std::span<float> q) override {
    forward(rows);
    outputs().read(q);
  }

 protected:
  // Returns outputs(): the Q-values, num_states per sample.
  virtual const float* forward(const Rows& rows) = 0;
  virtual const Array<float>& outputs() const = 0;
  // After forward(): the gradient, given the derivative with respect to the outputs.
  virtual void backward(const Rows& rows, const float* g_q) = 0;

  // y = f(bias + x W) for any number of rows, and the gradients of all three.
  void dense_forward(const DenseShape& shape, int rows, bool relu, const float* x, Array<float>& y) {
    const std::size_t threads = tiles_of(rows) * static_cast<std::size_t>(shape.outputs);
    y.resize(threads * kTile);
    Backend::for_each(threads, DenseForward{shape, relu, values_.data(), x, y.data()});
  }
  void dense_gradient(const DenseShape& shape, int rows, const float* x, const float* g) {
    const auto outputs = static_cast<std::size_t>(shape.outputs);
    Backend::for_each(static_cast<std::size_t>(shape.inputs / kTile) * outputs,
                      DenseGradient{shape, rows, x, g, gradient_.data()});
    Backend::for_each(outputs, BiasGradient{shape, rows, g, gradient_.data()});
  }
  void dense_backward(const DenseShape& shape, int rows, bool relu, const float* x, const float* g, Array<float>& g_x) {
    const std::size_t threads = tiles_of(rows) * static_cast<std::size_t>(shape.inputs);
    g_x.resize(threads * kTile);
    Backend::for_each(threads, DenseBackward{shape, relu, values_.data(), x, g, g_x.data()});
  }

  Array<float> values_, gradient_;

 private:
  static constexpr std::size_t kStride = 1 << 12;
  const std::size_t num_parameters_;
  Array<float> first_, second_, largest_, low_, high_, g_q_;
  Array<double> errors_;
};

template <typename Backend>
class MlpOn final : public EngineOn<Backend, MlpRows> {
  using Base = EngineOn<Backend, MlpRows>;
  using Floats = typename Base::template Array<float>;
  using Ints = typename Base::template Array<int>;

 public:
  explicit MlpOn(const MlpShape& shape)
      : Base(shape.num_parameters), layers_(shape.layers), activations_(shape.layers.size()) {}

 private:
  const float* forward(const MlpRows& rows) override {
    begin_.assign(rows.begin);
    indices_.assign(rows.indices);
    const int count = rows.num_samples();
    activations_[0].resize(tiles_of(count) * kTile * static_cast<std::size_t>(layers_[0].outputs));
    Backend::for_each(
        static_cast<std::size_t>(count) * static_cast<std::size_t>(layers_[0].outputs),
        OnesForward{layers_[0], this->values_.data(), begin_.data(), indices_.data(), activations_[0].data()});
    for (std::size_t l = 1; l < layers_.size(); ++l) {
      const bool relu = l + 1 < layers_.size();
      this->dense_forward(layers_[l], count, relu, activations_[l - 1].data(), activations_[l]);
    }
    return activations_.back().data();
  }
  const Floats& outputs() const override { return activations_.back(); }

  void backward(const MlpRows& rows, const float* g_q) override {
    const int count = rows.num_samples();
    const float* g = g_q;
    for (std::size_t l = layers_.size() - 1; l > 0; --l) {
      const float* const x = activations_[l - 1].data();
      this->dense_gradient(layers_[l], count, x, g);
      this->dense_backward(layers_[l], count, true, x, g, g_[l % 2]);
      g = g_[l % 2].data();
    }
    reader_begin_.assign(rows.reader_begin);
    readers_.assign(rows.readers);
    const auto outputs = static_cast<std::size_t>(layers_[0].outputs);
    float* const gradient = this->gradient_.data();
    Backend::for_each(static_cast<std::size_t>(layers_[0].inputs) * outputs,
                      OnesGradient{layers_[0], reader_begin_.data(), readers_.data(), g, gradient});
    Backend::for_each(outputs, BiasGradient{layers_[0], count, g, gradient});
  }

  const std::vector<DenseShape> layers_;
  std::vector<Floats> activations_;  // of each layer
  Floats g_[2];
  Ints begin_, indices_, reader_begin_, readers_;
};

template <typename Backend>
class GnnOn final : public EngineOn<Backend, GnnRows> {
  using Base = EngineOn<Backend, GnnRows>;
  using Floats = typename Base::template Array<float>;
  using Ints = typename Base::template Array<int>;

 public:
  explicit GnnOn(const GnnShape& shape) : Base(shape.num_parameters), shape_(shape) { blocks_.assign(shape.blocks); }

 private:
  const float* forward(const GnnRows& rows) override {
    block_.assign(rows.block);
    state_.assign(rows.state);
    encoding_.assign(rows.encoding);
    encodings_.assign(rows.encodings);
    input_begin_.assign(rows.input_begin);
    inputs_.assign(rows.inputs);
    readout_.assign(rows.readout);
    const auto floats = static_cast<std::size_t>(rows.num_rows()) * kWide;
    x_.resize(floats * kMostPanels);
    hidden_.resize(floats * kHidden);
    out_.resize(floats);
    for (std::size_t group = 0; group + 1 < rows.group_begin.size(); ++group) {
      const auto first = static_cast<std::size_t>(rows.group_begin[group]);
      Backend::for_each(static_cast<std::size_t>(rows.group_begin[group + 1]) - first, BlockForward{arrays(), first});
    }
    read_out_.resize(tiles_of(rows.num_samples()) * kTile * kWide);
    Backend::for_each(rows.readout.size() * kWide, GatherRows{readout_.data(), out_.data(), read_out_.data()});
    this->dense_forward(shape_.readout, rows.num_samples(), false, read_out_.data(), q_);
    return q_.data();
  }
  const Floats& outputs() const override { return q_; }

  void backward(const GnnRows& rows, const float* g_q) override {
    reader_begin_.assign(rows.reader_begin);
    readers_.assign(rows.readers);
    block_rows_.assign(rows.block_rows);
    const auto floats = static_cast<std::size_t>(rows.num_rows()) * kWide;
    g_x_.resize(floats * kMostPanels);
    g_sums_.resize(floats * kLayers);
    g_out_.resize(floats);
    this->dense_gradient(shape_.readout, rows.num_samples(), read_out_.data(), g_q);
    this->dense_backward(shape_.readout, rows.num_samples(), false, read_out_.data(), g_q, g_read_out_);
    Backend::for_each(floats, SetZero{g_out_.data()});
    Backend::for_each(rows.readout.size() * kWide, ScatterRows{readout_.data(), g_read_out_.data(), g_out_.data()});
    for (std::size_t group = rows.group_begin.size() - 1; group > 0; --group) {
      const auto first = static_cast<std::size_t>(rows.group_begin[group - 1]);
      Backend::for_each(static_cast<std::size_t>(rows.group_begin[group]) - first, BlockBackward{arrays(), first});
    }
    for (std::size_t b = 0; b < shape_.blocks.size(); ++b) add_block(rows, b);
  }

  void add_block(const GnnRows& rows, std::size_t b) {
    const BlockShape& shape = shape_.blocks[b];
    const std::size_t size = block_size(shape);
    const auto first = static_cast<std::size_t>(rows.block_begin[b]);
    const std::size_t num_rows = static_cast<std::size_t>(rows.block_begin[b + 1]) - first;
    const std::size_t num_runs = (num_rows + kRun - 1) / kRun;
    parts_.resize(std::max<std::size_t>(1, size * num_runs));
    Backend::for_each(size * num_runs,
                      BlockGradient{arrays(), shape, block_rows_.data() + first, num_rows, kRun, parts_.data()});
    Backend::for_each(size, SumOfParts{size, num_runs, parts_.data(), this->gradient_.data() + shape.weight});
  }

  GnnArrays arrays() {
    return {.parameters = this->values_.data(),
            .blocks = blocks_.data(),
            .block = block_.data(),
            .state = state_.data(),
            .encoding = encoding_.data(),
            .encodings = encodings_.data(),
            .input_begin = input_begin_.data(),
            .inputs = inputs_.data(),
            .reader_begin = reader_begin_.data(),
            .readers = readers_.data(),
            .x = x_.data(),
            .hidden = hidden_.data(),
            .out = out_.data(),
            .g_x = g_x_.data(),
            .g_sums = g_sums_.data(),
            .g_out = g_out_.data()};
  }

  static constexpr std::size_t kRun = 256;  // whose gradients one thread adds up
  const GnnShape shape_;
  typename Base::template Array<BlockShape> blocks_;
  Ints block_, state_, encoding_, input_begin_, inputs_, reader_begin_, readers_, block_rows_, readout_;
  Floats encodings_, x_, hidden_, out_, read_out_, q_, g_x_, g_sums_, g_out_, g_read_out_, parts_;
};

}  // namespace treesample::nn::device
