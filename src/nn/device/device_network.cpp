#include "treesample/nn/device_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "nn/device/gnn_rows.hpp"
#include "nn/gnn_cone.hpp"
#include "nn/samples.hpp"
#include "nn/squared_error.hpp"
#include "treesample/error.hpp"

namespace treesample {
namespace {

constexpr float kUnknown = -std::numeric_limits<float>::infinity();

nn::Targets make_targets(std::span<const GnnSample> samples, int num_states) {
  nn::Targets targets;
  const std::size_t size = samples.size() * static_cast<std::size_t>(num_states);
  targets.low.assign(size, kUnknown);
  targets.high.assign(size, kUnknown);
  std::size_t row = 0;
  for (const GnnSample& sample : samples) {
    nn::check_target(sample.target, sample.high, num_states);
    const std::span<const float> high = sample.high.empty() ? sample.target : sample.high;
    std::copy(sample.target.begin(), sample.target.end(), targets.low.begin() + static_cast<std::ptrdiff_t>(row));
    std::copy(high.begin(), high.end(), targets.high.begin() + static_cast<std::ptrdiff_t>(row));
    row += static_cast<std::size_t>(num_states);
  }
  return targets;
}

void check_samples(std::span<const GnnSample> samples) {
  check_argument(!samples.empty(), "DeviceNetwork", "there are no samples");
}

// The kind of network only decides how samples become rows.
template <typename Rows>
class DeviceNetworkOf final : public DeviceNetwork {
 public:
  using MakeRows = std::function<Rows(std::span<const GnnSample>)>;
  DeviceNetworkOf(std::unique_ptr<nn::Engine<Rows>> engine, MakeRows make_rows, const Parameters& parameters,
                  int num_states)
      : engine_(std::move(engine)), make_rows_(std::move(make_rows)), num_states_(num_states) {
    write(parameters.values(), Adam({}, parameters.size()));
  }

  void write(std::span<const float> parameters, const Adam& adam) override {
    engine_->write(parameters, adam.first_moment, adam.second_moment);
  }
  void read(std::span<float> parameters, Adam& adam) const override {
    engine_->read(parameters, adam.first_moment, adam.second_moment);
  }
  double set_gradient(std::span<const GnnSample> samples) override {
    const nn::Targets targets = make_targets(samples, num_states_);
    return engine_->set_gradient(make_rows_(samples), targets);
  }
  float largest_gradient() override { return engine_->largest_gradient(); }
  void read_gradient(std::span<float> gradient) const override { engine_->read_gradient(gradient); }
  void adam_step(const AdamOptions& options, std::int64_t number) override {
    const auto t = static_cast<double>(number);
    engine_->adam_step({.beta1 = static_cast<float>(options.beta1),
                        .beta2 = static_cast<float>(options.beta2),
                        .step_size = static_cast<float>(options.learning_rate / (1.0 - std::pow(options.beta1, t))),
                        .second_scale = static_cast<float>(1.0 / (1.0 - std::pow(options.beta2, t))),
                        .epsilon = static_cast<float>(options.epsilon)});
  }
  void q_values(std::span<const GnnSample> samples, std::span<float> q) override {
    check_argument(q.size() == samples.size() * static_cast<std::size_t>(num_states_), "DeviceNetwork::q_values",
                   fmt::format("{} Q-values for {} samples of {} states", q.size(), samples.size(), num_states_));
    engine_->q_values(make_rows_(samples), q);
  }

 private:
  std::unique_ptr<nn::Engine<Rows>> engine_;
  MakeRows make_rows_;
  int num_states_;
};

nn::MlpRows make_mlp_rows(const MlpOptions& options, std::span<const GnnSample> samples) {
  check_samples(samples);
  nn::MlpRows rows;
  rows.begin.push_back(0);
  for (const GnnSample& sample : samples) {
    nn::check_mlp_sample("DeviceNetwork", options, sample.states, sample.variable);
    nn::append_ones(options, sample.states, sample.variable, rows.indices);
    rows.begin.push_back(static_cast<int>(rows.indices.size()));
  }
  nn::Readers readers = nn::invert_lists(rows.begin, rows.indices, options.num_variables * (options.num_states + 1));
  rows.reader_begin = std::move(readers.begin);
  rows.readers = std::move(readers.readers);
  return rows;
}

nn::GnnShape shape_of(const Gnn& network) {
  nn::GnnShape shape;
  shape.num_parameters = network.parameters().size();
  const int num_states = network.options().num_states;
  for (int b = 0; b < nn::num_blocks(network.options()); ++b) {
    const Gnn::Block& block = network.block(b);
    shape.blocks.push_back({.weight = block.weight,
                            .panels = block.in_panels,
                            .num_one_hot = block.has_one_hot ? num_states : 0,
                            .num_encoding = block.has_encoding ? nn::kEncoding : 0});
  }
  shape.readout = {network.readout_weight(), network.readout_bias(), kPanel, num_states};
  return shape;
}

nn::MlpShape shape_of(const Mlp& network) {
  nn::MlpShape shape;
  shape.num_parameters = network.parameters().size();
  const std::vector<Parameters::Tensor>& tensors = network.parameters().tensors();  // weight, bias, weight, ...
  for (std::size_t l = 0; l + 1 < tensors.size(); l += 2) {
    shape.layers.push_back({tensors[l].offset, tensors[l + 1].offset, tensors[l].rows, tensors[l].columns});
  }
  return shape;
}

template <typename Shape>
auto make_engine(const Shape& shape, Device device) {
  check_argument(device != Device::kCpu, "make_device_network", "the device is the processor itself");
  return device == Device::kCuda ? nn::make_cuda_engine(shape) : nn::make_host_engine(shape);
}

}  // namespace

Device parse_device(std::string_view word) {
  if (word == "cpu") return Device::kCpu;
  if (word == "cuda") return Device::kCuda;
  check_argument(word == "kernels", "device", fmt::format("is '{}', allowed are cpu, cuda and kernels", word));
  return Device::kKernels;
}

std::unique_ptr<DeviceNetwork> make_device_network(const Mlp& network, Device device) {
  return std::make_unique<DeviceNetworkOf<nn::MlpRows>>(
      make_engine(shape_of(network), device),
      [options = network.options()](std::span<const GnnSample> samples) { return make_mlp_rows(options, samples); },
      network.parameters(), network.options().num_states);
}

std::unique_ptr<DeviceNetwork> make_device_network(const Gnn& network, Device device) {
  check_argument(network.options().global_after == 0, "make_device_network",
                 "a graph network with a global value (global_after) is computed on the processor: allowed is the "
                 "device cpu");
  return std::make_unique<DeviceNetworkOf<nn::GnnRows>>(
      make_engine(shape_of(network), device),
      [options = network.options()](std::span<const GnnSample> samples) {
        check_samples(samples);
        for (const GnnSample& sample : samples) nn::check_gnn_sample("DeviceNetwork", options, sample);
        return nn::make_gnn_rows(options, samples);
      },
      network.parameters(), network.options().num_states);
}

}  // namespace treesample
