#include "treesample/nn/gnn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "nn/gnn_pass.hpp"
#include "nn/kernels.hpp"
#include "nn/samples.hpp"
#include "nn/squared_error.hpp"
#include "treesample/error.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

constexpr int kEdgePanels = 3;  // edge, variable, factor
constexpr int kNodePanels = 2;  // sum of incoming edges, self
// Samples that go through the network together: enough rows per block to fill the tiles, few enough that all
// activations stay in the second-level cache.
constexpr int kChunk = 16;

}  // namespace

GnnScratch::GnnScratch() : memory_(std::make_unique<nn::GnnMemory>()) {}
GnnScratch::~GnnScratch() = default;
GnnScratch::GnnScratch(GnnScratch&&) noexcept = default;
GnnScratch& GnnScratch::operator=(GnnScratch&&) noexcept = default;

Gnn::Gnn(GnnOptions options, Random& random) : options_(std::move(options)) {
  options_.validate();
  for (const std::string& kind : options_.kinds) {
    const Block shape = {.in_panels = kEdgePanels, .has_one_hot = true, .has_encoding = kind == kTableKind};
    add_block(fmt::format("edge.{}.to_factor", kind), shape, random);
    add_block(fmt::format("edge.{}.to_variable", kind), shape, random);
  }
  add_block("node.variable", {.in_panels = kNodePanels, .has_one_hot = true}, random);
  for (const std::string& kind : options_.kinds) {
    add_block(fmt::format("node.factor.{}", kind), {.in_panels = kNodePanels, .has_encoding = kind == kTableKind},
              random);
  }
  readout_weight_ = parameters_.add_weight("readout.weight", kPanel, options_.num_states, kPanel, random);
  readout_bias_ = parameters_.add_bias("readout.bias", options_.num_states, random);
  if (options_.global_after > 0) {
    // A quarter of the usual standard deviation, because this weight multiplies a sum over all variables.
    global_weight_ = parameters_.add_weight("global.weight", kPanel, 1, kPanel * kPanel, random);
  }
}

void Gnn::add_block(const std::string& name, const Block& shape, Random& random) {
  Block block = shape;
  const int hidden_rows = block.in_panels * kPanel;
  const int one_hot_rows = block.has_one_hot ? options_.num_states : 0;
  const int encoding_rows = block.has_encoding ? nn::kEncoding : 0;
  block.weight = parameters_.add_weight(name + ".layer0.weight", hidden_rows + one_hot_rows + encoding_rows, kPanel,
                                        hidden_rows + (block.has_one_hot ? 1 : 0) + encoding_rows, random);
  block.one_hot = block.weight + static_cast<std::size_t>(hidden_rows) * kPanel;
  block.encoding = block.one_hot + static_cast<std::size_t>(one_hot_rows) * kPanel;
  block.bias = parameters_.add_bias(name + ".layer0.bias", kPanel, random);
  block.tail = parameters_.size();
  for (int l = 1; l <= nn::kTailLayers; ++l) {
    parameters_.add_weight(fmt::format("{}.layer{}.weight", name, l), kPanel, kPanel, kPanel, random);
    parameters_.add_bias(fmt::format("{}.layer{}.bias", name, l), kPanel, random);
  }
  blocks_.push_back(block);
}

GnnEvaluator::GnnEvaluator(std::shared_ptr<const Gnn> network, GnnPlan plan)
    : network_(std::move(network)), plan_(std::move(plan)) {
  check_argument(network_->options() == plan_.options(), "GnnEvaluator",
                 "the plan is for a network with other options");
  auto tables = std::make_shared<nn::GnnTables>();
  const nn::PlanData* data = &plan_.data();
  nn::build_tables(*network_, {&data, 1}, *tables);
  tables_ = std::move(tables);
}

void GnnEvaluator::q_values(int variable, std::span<const int> states, GnnScratch& scratch, std::span<float> q) const {
  const auto num_variables = static_cast<std::size_t>(plan_.num_variables());
  const auto num_states = static_cast<std::size_t>(network_->options().num_states);
  check_range("GnnEvaluator::q_values", "variable", variable, 0, plan_.num_variables() - 1);
  const std::size_t count = states.size() / num_variables;
  check_argument(states.size() == count * num_variables && q.size() == count * num_states, "GnnEvaluator::q_values",
                 fmt::format("{} states and {} Q-values do not fit {} variables and {} states per variable",
                             states.size(), q.size(), num_variables, num_states));
  check_prefix("GnnEvaluator::q_values", states, network_->options().num_states);
  nn::GnnMemory& memory = scratch.memory();
  for (std::size_t first = 0; first < count; first += kChunk) {
    const std::size_t rows = std::min<std::size_t>(kChunk, count - first);
    memory.samples.clear();
    for (std::size_t r = 0; r < rows; ++r) {
      memory.samples.push_back(
          {.cone = &plan_.data().cones[variable], .states = states.data() + (first + r) * num_variables});
    }
    nn::forward_pass(*network_, *tables_, false, memory);
    nn::copy_outputs(memory.q.data(), static_cast<int>(rows), q.subspan(first * num_states, rows * num_states));
  }
}

void nn::check_gnn_sample(const char* function, const GnnOptions& options, const GnnSample& sample) {
  check_argument(sample.plan != nullptr && sample.plan->options() == options, function,
                 "a sample has no plan, or one for a network with other options");
  check_range(function, "variable", sample.variable, 0, sample.plan->num_variables() - 1);
  check_argument(
      static_cast<int>(sample.states.size()) == sample.plan->num_variables(), function,
      fmt::format("a sample has {} states for {} variables", sample.states.size(), sample.plan->num_variables()));
  check_prefix(function, sample.states, options.num_states);
}

namespace {

// memory.plans = the distinct plans of the samples, in order of appearance; returns the index of each sample's plan.
std::vector<int> collect_plans(std::span<const GnnSample> samples, nn::GnnMemory& memory) {
  std::vector<int> plan_of_sample;
  memory.plans.clear();
  for (const GnnSample& sample : samples) {
    const nn::PlanData* plan = &sample.plan->data();
    const auto found = std::find(memory.plans.begin(), memory.plans.end(), plan);
    plan_of_sample.push_back(static_cast<int>(found - memory.plans.begin()));
    if (found == memory.plans.end()) memory.plans.push_back(plan);
  }
  return plan_of_sample;
}

}  // namespace

double accumulate_gradient(const Gnn& network, std::span<const GnnSample> samples, GnnScratch& scratch,
                           std::span<float> gradient) {
  check_argument(
      gradient.size() == network.parameters().size(), "accumulate_gradient",
      fmt::format("the gradient has {} entries, the parameters {}", gradient.size(), network.parameters().size()));
  check_aligned("accumulate_gradient", gradient);
  for (const GnnSample& sample : samples) nn::check_gnn_sample("accumulate_gradient", network.options(), sample);
  nn::GnnMemory& memory = scratch.memory();
  const int num_states = network.options().num_states;
  const int out_panels = (num_states + kPanel - 1) / kPanel;
  const std::vector<int> plan_of_sample = collect_plans(samples, memory);
  nn::build_tables(network, memory.plans, memory.tables);
  memory.table_gradients.reset(memory.tables);
  memory.transposed.assign(network);
  memory.readout_transposed.resize(static_cast<std::size_t>(out_panels) * nn::kBlock);
  nn::transpose_blocks(network.parameters().values().data() + network.readout_weight(), kPanel, 1, out_panels,
                       memory.readout_transposed.data());
  double error = 0.0;
  const std::size_t num_samples = nn::count_samples(samples);
  for (std::size_t first = 0; first < samples.size(); first += memory.samples.size()) {
    const auto chunk = nn::next_chunk(samples.subspan(first), kChunk);
    const int rows = static_cast<int>(chunk.size());
    memory.samples.clear();
    for (int r = 0; r < rows; ++r) {
      memory.samples.push_back({.cone = &chunk[r].plan->data().cones[chunk[r].variable],
                                .states = chunk[r].states.data(),
                                .shift = memory.tables.shifts[plan_of_sample[first + static_cast<std::size_t>(r)]]});
    }
    nn::forward_pass(network, memory.tables, true, memory);
    memory.g_q.assign(memory.q.size(), 0.0F);
    error = nn::add_errors(error,
                           {.q = memory.q.data(),
                            .g = memory.g_q.data(),
                            .rows = rows,
                            .num_states = num_states,
                            .num_samples = num_samples},
                           chunk);
    nn::backward_pass(network, memory.tables, memory, gradient);
  }
  nn::backward_tables(network, memory.tables, memory.transposed, memory.table_gradients, gradient);
  return error;
}

}  // namespace treesample
