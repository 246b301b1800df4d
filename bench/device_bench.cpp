// Training steps and evaluations per second on a GPU against one core, with the paper's networks and with wider ones or
// larger minibatches. Fails when results differ by more than 1e-4; says so and ends where there is no GPU.
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
  std::vector<float> target = {1.0F, -1.0F};
  std::vector<GnnSample> samples;
};

Batch make_batch(int size, const std::vector<GnnPlan>& plans, Random& random) {
  Batch batch;
  for (int i = 0; i < size; ++i) {
    const int variable = i % kVariables;
    std::vector<int>& states = batch.states.emplace_back(kVariables, -1);
    for (int v = 0; v < variable; ++v) states[static_cast<std::size_t>(v)] = static_cast<int>(random.below(kStates));
    batch.samples.push_back(
        {.plan = plans.empty() ? nullptr : &plans[static_cast<std::size_t>(i) / kVariables % plans.size()],
         .states = states,
         .variable = variable,
         .target = batch.target});
  }
  return batch;
}

double largest_difference(std::span<const float> a, std::span<const float> b) {
  double most = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, static_cast<double>(std::abs(a[i] - b[i])));
  return most;
}

// `gradient(g)` adds the processor's, `evaluate(q)` are its Q-values.
template <typename Network, typename Gradient, typename Evaluate>
bool compare(const std::string& name, Network& network, const Batch& batch, Device device, const Gradient& gradient,
             const Evaluate& evaluate) {
  const auto there = make_device_network(network, device);
  const std::size_t size = network.parameters().size();
  FloatBuffer g(size), g_there(size);
  gradient(g);
  there->set_gradient(batch.samples);
  there->read_gradient(g_there);
  std::vector<float> q(batch.samples.size() * kStates), q_there(q.size());
  evaluate(q);
  there->q_values(batch.samples, q_there);
  const double difference = std::max(largest_difference(g, g_there), largest_difference(q, q_there));
  Adam adam({}, size);
  const double step = seconds_per_call([&] {
    std::fill(g.begin(), g.end(), 0.0F);
    gradient(g);
    adam.step(network.parameters().values(), g);
  });
  std::int64_t number = 0;
  const double step_there = seconds_per_call([&] {
    there->set_gradient(batch.samples);
    if (!std::isfinite(there->largest_gradient())) throw Error(ErrorCode::kNumeric, "the gradient is not finite");
    there->adam_step({}, ++number);
  });
  const double evaluation = seconds_per_call([&] { evaluate(q); });
  const double evaluation_there = seconds_per_call([&] { there->q_values(batch.samples, q_there); });
  fmt::print("{:<28} {:>5} {:>11.0f} {:>11.0f} {:>7.2f} {:>11.0f} {:>11.0f} {:>7.2f} {:>9.1e}\n", name,
             batch.samples.size(), 1.0 / step, 1.0 / step_there, step / step_there, 1.0 / evaluation,
             1.0 / evaluation_there, evaluation / evaluation_there, difference);
  return difference <= 1e-4;
}

bool compare_mlp(int width, int batch_size, Device device) {
  Random random(1, "device_bench");
  Mlp network({.num_variables = kVariables, .num_states = kStates, .hidden = {width, width, width, width}}, random);
  const Batch batch = make_batch(batch_size, {}, random);
  std::vector<MlpSample> samples;
  for (const GnnSample& s : batch.samples)
    samples.push_back({.states = s.states, .variable = s.variable, .target = s.target});
  MlpScratch scratch;
  return compare(
      fmt::format("MLP, 4 layers of {}", width), network, batch, device,
      [&](FloatBuffer& g) { network.accumulate_gradient(samples, scratch, g); },
      [&](std::vector<float>& q) {
        for (std::size_t i = 0; i < samples.size(); ++i)
          network.q_values(samples[i].variable, samples[i].states, scratch, std::span(q).subspan(i * kStates, kStates));
      });
}

bool compare_gnn(int iterations, int batch_size, Device device) {
  Random random(2, "device_bench");
  const GnnOptions options = {.kinds = {"not", "majority"}, .num_states = kStates, .iterations = iterations};
  Gnn network(options, random);
  std::vector<GnnPlan> plans;
  std::vector<GnnEvaluator> evaluators;
  const auto shared = std::make_shared<const Gnn>(network);
  for (std::uint64_t i = 0; i < 8; ++i) {
    const FamilyInstance instance = make_factor_graphs_2({}, 1, i);
    plans.emplace_back(instance.graph, instance.factor_kinds, options);
    evaluators.emplace_back(shared, plans.back());
  }
  const Batch batch = make_batch(batch_size, plans, random);
  GnnScratch scratch;
  return compare(
      fmt::format("GNN of 16, {} iterations", iterations), network, batch, device,
      [&](FloatBuffer& g) { accumulate_gradient(network, batch.samples, scratch, g); },
      [&](std::vector<float>& q) {
        for (std::size_t i = 0; i < batch.samples.size(); ++i) {
          evaluators[i / kVariables % plans.size()].q_values(batch.samples[i].variable, batch.samples[i].states,
                                                             scratch, std::span(q).subspan(i * kStates, kStates));
        }
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
    is_equal = compare_mlp(2560, 128, device) && is_equal;
    is_equal = compare_mlp(2560, 1280, device) && is_equal;
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
