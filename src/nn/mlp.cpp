#include "treesample/nn/mlp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "nn/kernels.hpp"
#include "nn/samples.hpp"
#include "nn/squared_error.hpp"
#include "treesample/error.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

constexpr int kMaxVariables = 1 << 20;
constexpr int kMaxWidth = 1 << 14;
constexpr int kChunkRows = 128;  // rows evaluated together: bounds the scratch memory of large batches

int panels_of(int columns) { return (columns + kPanel - 1) / kPanel; }

}  // namespace

void nn::check_mlp_sample(const char* function, const MlpOptions& options, std::span<const int> states, int variable) {
  check_argument(static_cast<int>(states.size()) == options.num_variables, function,
                 fmt::format("a sample has {} states for {} variables", states.size(), options.num_variables));
  check_range(function, "variable", variable, 0, options.num_variables - 1);
  check_prefix(function, states, options.num_states);
}

void nn::append_ones(const MlpOptions& options, std::span<const int> states, int variable, std::vector<int>& indices) {
  for (int v = 0; v < options.num_variables; ++v) {
    if (states[v] >= 0) indices.push_back(v * options.num_states + states[v]);
  }
  indices.push_back(options.num_variables * options.num_states + variable);
}

struct MlpScratch::Memory {
  // The current chunk: the inputs of row r that are 1 are indices[begin[r]] .. indices[begin[r + 1] - 1].
  int rows = 0;
  std::vector<int> begin;
  std::vector<int> indices;
  std::vector<FloatBuffer> outputs;  // per layer, panels of `rows` rows
  FloatBuffer g;                     // gradients of a layer's sums, and of those of the layer below
  FloatBuffer g_below;
  FloatBuffer transposed;
};

MlpScratch::MlpScratch() : memory_(std::make_unique<Memory>()) {}
MlpScratch::~MlpScratch() = default;
MlpScratch::MlpScratch(MlpScratch&&) noexcept = default;
MlpScratch& MlpScratch::operator=(MlpScratch&&) noexcept = default;

namespace {

void add_row(const MlpOptions& options, std::span<const int> states, int variable, MlpScratch::Memory& memory) {
  nn::append_ones(options, states, variable, memory.indices);
  memory.begin.push_back(static_cast<int>(memory.indices.size()));
  ++memory.rows;
}

void clear_rows(MlpScratch::Memory& memory) {
  memory.rows = 0;
  memory.indices.clear();
  memory.begin.assign(1, 0);
}

}  // namespace

void MlpOptions::validate() const {
  check_range("MlpOptions", "num_variables", num_variables, 1, kMaxVariables);
  check_range("MlpOptions", "num_states", num_states, 1, kMaxWidth);
  check_range("MlpOptions", "number of hidden layers", static_cast<std::int64_t>(hidden.size()), 1, 64);
  for (const int width : hidden) {
    check_range("MlpOptions", "hidden width", width, kPanel, kMaxWidth);
    check_argument(width % kPanel == 0, "MlpOptions",
                   fmt::format("hidden width is {}, allowed are multiples of {}", width, kPanel));
  }
}

Mlp::Mlp(MlpOptions options, Random& random) : options_(std::move(options)) {
  options_.validate();
  std::vector<int> widths = options_.hidden;
  widths.push_back(options_.num_states);
  int rows = options_.num_variables * (options_.num_states + 1);
  int num_active = options_.num_variables + 1;
  for (std::size_t l = 0; l < widths.size(); ++l) {
    Layer& layer = layers_.emplace_back(Layer{.rows = rows, .columns = widths[l]});
    layer.weight = parameters_.add_weight(fmt::format("layer{}.weight", l), rows, widths[l], num_active, random);
    layer.bias = parameters_.add_bias(fmt::format("layer{}.bias", l), widths[l], random);
    rows = num_active = widths[l];
  }
}

void Mlp::forward(MlpScratch::Memory& memory) const {
  const float* parameters = parameters_.values().data();
  memory.outputs.resize(std::max(memory.outputs.size(), layers_.size()));
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    const int out_panels = panels_of(layer.columns);
    FloatBuffer& y = memory.outputs[l];
    const auto size = static_cast<std::size_t>(memory.rows) * static_cast<std::size_t>(out_panels) * kPanel;
    if (y.size() < size) y.resize(size);
    if (l == 0) {
      nn::sparse_forward({.rows = memory.rows,
                          .out_panels = out_panels,
                          .begin = memory.begin.data(),
                          .indices = memory.indices.data(),
                          .weight_rows = layer.rows},
                         parameters + layer.weight, parameters + layer.bias, y.data());
    } else {
      nn::dense_forward({.rows = memory.rows,
                         .in_panels = layer.rows / kPanel,
                         .out_panels = out_panels,
                         .x = memory.outputs[l - 1].data(),
                         .weight = parameters + layer.weight,
                         .weight_rows = layer.rows,
                         .bias = parameters + layer.bias,
                         .relu = l + 1 < layers_.size(),
                         .y = y.data()});
    }
  }
}

void Mlp::q_values(int variable, std::span<const int> states, MlpScratch& scratch, std::span<float> q) const {
  const auto num_variables = static_cast<std::size_t>(options_.num_variables);
  const auto num_states = static_cast<std::size_t>(options_.num_states);
  const std::size_t count = states.size() / num_variables;
  check_range("Mlp::q_values", "variable", variable, 0, options_.num_variables - 1);
  check_argument(states.size() == count * num_variables && q.size() == count * num_states, "Mlp::q_values",
                 fmt::format("{} states and {} Q-values do not fit {} variables and {} states per variable",
                             states.size(), q.size(), num_variables, num_states));
  check_prefix("Mlp::q_values", states, options_.num_states);
  MlpScratch::Memory& memory = scratch.memory();
  for (std::size_t first = 0; first < count; first += kChunkRows) {
    const std::size_t rows = std::min<std::size_t>(kChunkRows, count - first);
    clear_rows(memory);
    for (std::size_t r = 0; r < rows; ++r) {
      add_row(options_, states.subspan((first + r) * num_variables, num_variables), variable, memory);
    }
    forward(memory);
    nn::copy_outputs(memory.outputs[layers_.size() - 1].data(), memory.rows,
                     q.subspan(first * num_states, rows * num_states));
  }
}

void Mlp::backward(MlpScratch::Memory& memory, std::span<float> gradient) const {
  const float* parameters = parameters_.values().data();
  for (std::size_t l = layers_.size() - 1; l > 0; --l) {
    const Layer& layer = layers_[l];
    const int in_panels = layer.rows / kPanel;
    const int out_panels = panels_of(layer.columns);
    const float* x = memory.outputs[l - 1].data();
    nn::dense_gradient({.rows = memory.rows,
                        .in_panels = in_panels,
                        .out_panels = out_panels,
                        .x = x,
                        .g = memory.g.data(),
                        .weight = gradient.data() + layer.weight,
                        .weight_rows = layer.rows,
                        .bias = gradient.data() + layer.bias});
    memory.transposed.resize(static_cast<std::size_t>(in_panels) * static_cast<std::size_t>(out_panels) * nn::kBlock);
    nn::transpose_blocks(parameters + layer.weight, layer.rows, in_panels, out_panels, memory.transposed.data());
    memory.g_below.resize(static_cast<std::size_t>(memory.rows) * static_cast<std::size_t>(layer.rows));
    nn::dense_forward({.rows = memory.rows,
                       .in_panels = out_panels,
                       .out_panels = in_panels,
                       .x = memory.g.data(),
                       .weight = memory.transposed.data(),
                       .weight_rows = out_panels * kPanel,
                       .mask = x,
                       .y = memory.g_below.data()});
    std::swap(memory.g, memory.g_below);
  }
  nn::sparse_gradient({.rows = memory.rows,
                       .out_panels = layers_[0].columns / kPanel,
                       .begin = memory.begin.data(),
                       .indices = memory.indices.data(),
                       .weight_rows = layers_[0].rows},
                      memory.g.data(), gradient.data() + layers_[0].weight, gradient.data() + layers_[0].bias);
}

double Mlp::accumulate_gradient(std::span<const MlpSample> samples, MlpScratch& scratch,
                                std::span<float> gradient) const {
  check_argument(gradient.size() == parameters_.size(), "Mlp::accumulate_gradient",
                 fmt::format("the gradient has {} entries, the parameters {}", gradient.size(), parameters_.size()));
  check_aligned("Mlp::accumulate_gradient", gradient);
  MlpScratch::Memory& memory = scratch.memory();
  double error = 0.0;
  const std::size_t num_samples = nn::count_samples(samples);
  for (std::size_t first = 0; first < samples.size(); first += static_cast<std::size_t>(memory.rows)) {
    const auto chunk = nn::next_chunk(samples.subspan(first), kChunkRows);
    clear_rows(memory);
    for (const MlpSample& sample : chunk) {
      nn::check_mlp_sample("Mlp::accumulate_gradient", options_, sample.states, sample.variable);
      add_row(options_, sample.states, sample.variable, memory);
    }
    forward(memory);
    const FloatBuffer& q = memory.outputs[layers_.size() - 1];
    memory.g.assign(
        static_cast<std::size_t>(memory.rows) * static_cast<std::size_t>(panels_of(options_.num_states)) * kPanel,
        0.0F);
    error = nn::add_errors(error,
                           {.q = q.data(),
                            .g = memory.g.data(),
                            .rows = memory.rows,
                            .num_states = options_.num_states,
                            .num_samples = num_samples},
                           chunk);
    backward(memory, gradient);
  }
  return error;
}

void Mlp::accumulate_gradient(int variable, std::span<const int> states, const LossGradient& differentiate,
                              MlpScratch& scratch, std::span<float> gradient) const {
  check_argument(gradient.size() == parameters_.size(), "Mlp::accumulate_gradient",
                 fmt::format("the gradient has {} entries, the parameters {}", gradient.size(), parameters_.size()));
  check_aligned("Mlp::accumulate_gradient", gradient);
  const auto num_variables = static_cast<std::size_t>(options_.num_variables);
  const auto num_states = static_cast<std::size_t>(options_.num_states);
  const std::size_t count = states.size() / num_variables;
  std::vector<float> q(count * num_states), g(count * num_states, 0.0F);
  q_values(variable, states, scratch, q);
  differentiate(q, g);
  MlpScratch::Memory& memory = scratch.memory();
  for (std::size_t first = 0; first < count; first += kChunkRows) {
    const std::size_t rows = std::min<std::size_t>(kChunkRows, count - first);
    clear_rows(memory);
    for (std::size_t r = 0; r < rows; ++r) {
      add_row(options_, states.subspan((first + r) * num_variables, num_variables), variable, memory);
    }
    if (count > kChunkRows) forward(memory);  // otherwise its outputs are still there
    memory.g.assign(rows * static_cast<std::size_t>(panels_of(options_.num_states)) * kPanel, 0.0F);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t a = 0; a < num_states; ++a) {
        memory.g[nn::panel_index(memory.rows, static_cast<int>(r), static_cast<int>(a))] =
            g[(first + r) * num_states + a];
      }
    }
    backward(memory, gradient);
  }
}

}  // namespace treesample
