// Training steps and evaluations per second on a GPU against one core, with the paper's networks and with wider ones or
// larger minibatches. Fails when results differ by more than 1e-4; without a GPU it says so and ends.
//
// Usage: device_bench [cuda|kernels]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/families/factor_graphs_2.hpp"
#include "treesample/math/random.hpp"
#include "treesample/nn/device_network.hpp"

namespace {

using namespace treesample;

constexpr int kVariables = 20;
constexpr int kStates = 2;

template <typename Call>
double seconds_per_call(const Call& call) {
  using Clock = std::chrono::steady_clock;
  call();
  double best = HUGE_VAL;
  for (int run = 0; run < 3; ++run) {
    const auto begin = Clock::now();
    int count = 0;
    std::chrono::duration<double> spent{};
    while (spent.count() < 0.3) {
      call();
      ++count;
      spent = Clock::now() - begin;
    }
    best = std::min(best, spent.count() / count);
  }
  return best;
}

struct Batch {
  std::vector<std::vector<int>> states;
  std::vector<int> all_states;  // all of these, one after the other
  std::vector<float> target = {1.0F, -1.0F};
  std::vector<GnnSample> samples;
};

// For training, all variables and graphs in turn; for evaluation, one of each, as a search asks.
Batch make_batch(int size, const std::vector<GnnPlan>& plans, bool is_training, Random& random) {
  Batch batch;
  for (int i = 0; i < size; ++i) {
    const int variable = is_training ? i % kVariables : kVariables / 2;
    const std::size_t plan =
        is_training && !plans.empty() ? static_cast<std::size_t>(i) / kVariables % plans.size() : 0;
    std::vector<int>& states = batch.states.emplace_back(kVariables, -1);
    for (int v = 0; v < variable; ++v) states[static_cast<std::size_t>(v)] = static_cast<int>(random.below(kStates));
    batch.all_states.insert(batch.all_states.end(), states.begin(), states.end());
    batch.samples.push_back({.plan = plans.empty() ? nullptr : &plans[plan],
                             .states = states,
                             .variable = variable,
                             .target = batch.target});
  }
  return batch;
}

// Relative to the largest number.
double largest_difference(std::span<const float> a, std::span<const float> b) {
  double most = 0.0, largest = 1.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(difference <= most)) most = std::isnan(difference) ? HUGE_VAL : difference;
    largest = std::max(largest, std::abs(static_cast<double>(a[i])));
  }
  return most / largest;
}

struct Batches {
  Batch training, evaluation;
};
Batches make_batches(int size, const std::vector<GnnPlan>& plans, Random& random) {
  return {make_batch(size, plans, true, random), make_batch(size, plans, false, random)};
}

// `gradient(g)` adds the processor's gradient, `evaluate(q)` gives its Q-values.
template <typename Network, typename Gradient, typename Evaluate>
bool compare(const std::string& name, Network& network, const Batches& batches, Device device, const Gradient& gradient,
             const Evaluate& evaluate) {
  const auto there = make_device_network(network, device);
  const std::vector<GnnSample>& samples = batches.training.samples;
  const std::size_t size = network.parameters().size();
  FloatBuffer g(size), g_there(size);
  gradient(g);
  there->set_gradient(samples);
  there->read_gradient(g_there);
  std::vector<float> q(samples.size() * kStates), q_there(q.size());
  evaluate(q);
  there->q_values(batches.evaluation.samples, q_there);
  const double difference = std::max(largest_difference(g, g_there), largest_difference(q, q_there));
  Adam adam({}, size);
  const double step = seconds_per_call([&] {
    std::fill(g.begin(), g.end(), 0.0F);
    gradient(g);
    adam.step(network.parameters().values(), g);
  });
  std::int64_t number = 0;
  const double step_there = seconds_per_call([&] {
    there->set_gradient(samples);
    if (!std::isfinite(there->largest_gradient())) throw Error(ErrorCode::kNumeric, "the gradient is not finite");
    there->adam_step({}, ++number);
  });
  const double evaluation = seconds_per_call([&] { evaluate(q); });
  const double evaluation_there = seconds_per_call([&] { there->q_values(batches.evaluation.samples, q_there); });
  fmt::print("{:<28} {:>5} {:>11.1f} {:>11.1f} {:>7.2f} {:>11.1f} {:>11.1f} {:>7.2f} {:>9.1e}\n", name, samples.size(),
             1.0 / step, 1.0 / step_there, step / step_there, 1.0 / evaluation, 1.0 / evaluation_there,
             evaluation / evaluation_there, difference);
  return difference <= 1e-4;
}

bool compare_mlp(int width, int batch_size, Device device) {
  Random random(1, "device_bench");
  Mlp network({.num_variables = kVariables, .num_states = kStates, .hidden = {width, width, width, width}}, random);
  const Batches batches = make_batches(batch_size, {}, random);
  std::vector<MlpSample> samples;
  for (const GnnSample& s : batches.training.samples)
    samples.push_back({.states = s.states, .variable = s.variable, .target = s.target});
  MlpScratch scratch;
  return compare(
      fmt::format("MLP, 4 layers of {}", width), network, batches, device,
      [&](FloatBuffer& g) { network.accumulate_gradient(samples, scratch, g); },
      [&](std::vector<float>& q) {
        network.q_values(batches.evaluation.samples[0].variable, batches.evaluation.all_states, scratch, q);
      });
}

bool compare_gnn(int iterations, int batch_size, Device device) {
  Random random(2, "device_bench");
  const GnnOptions options = {.kinds = {"not", "majority"}, .num_states = kStates, .iterations = iterations};
  Gnn network(options, random);
  std::vector<GnnPlan> plans;
  for (std::uint64_t i = 0; i < 8; ++i) {
    const FamilyInstance instance = make_factor_graphs_2({}, 1, i);
    plans.emplace_back(instance.graph, instance.factor_kinds, options);
  }
  const GnnEvaluator evaluator(std::make_shared<const Gnn>(network), plans[0]);
  const Batches batches = make_batches(batch_size, plans, random);
  GnnScratch scratch;
  return compare(
      fmt::format("GNN of 16, {} iterations", iterations), network, batches, device,
      [&](FloatBuffer& g) { accumulate_gradient(network, batches.training.samples, scratch, g); },
      [&](std::vector<float>& q) {
        evaluator.q_values(batches.evaluation.samples[0].variable, batches.evaluation.all_states, scratch, q);
      });
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Device device = parse_device(argc > 1 ? argv[1] : "cuda");
    fmt::print("minibatches per second: training steps and evaluations, on one core and on the device\n");
    fmt::print("{:<28} {:>5} {:>11} {:>11} {:>7} {:>11} {:>11} {:>7} {:>9}\n", "network", "batch", "steps, core",
               "device", "ratio", "eval., core", "device", "ratio", "differ by");
    bool is_equal = compare_mlp(256, 128, device);
    is_equal = compare_mlp(256, 1280, device) && is_equal;
    if (device == Device::kCuda) {  // the kernels on a processor would take minutes
      is_equal = compare_mlp(2560, 128, device) && is_equal;
      is_equal = compare_mlp(2560, 1280, device) && is_equal;
    }
    is_equal = compare_mlp(256, 1, device) && is_equal;
    is_equal = compare_gnn(4, 1, device) && is_equal;
    is_equal = compare_gnn(4, 128, device) && is_equal;
    is_equal = compare_gnn(4, 1280, device) && is_equal;
    is_equal = compare_gnn(8, 1280, device) && is_equal;
    fmt::print("{}\n", is_equal ? "equal to 1e-4" : "DIFFERENT by more than 1e-4");
    return is_equal ? 0 : 1;
  } catch (const Error& error) {
    fmt::print("device_bench: skipped: {}\n", error.what());
    return error.code() == ErrorCode::kIo || error.code() == ErrorCode::kArgument ? 0 : 1;
  }
}
