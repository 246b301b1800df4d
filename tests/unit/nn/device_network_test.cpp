// What a GPU runs, on this processor, against Mlp and Gnn.
#include "treesample/nn/device_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/nn_reference.hpp"
#include "treesample/error.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

struct Example {
  int plan = 0;
  int variable = 0;
  std::vector<int> states;
  std::vector<float> target, high;
};

// Targets of all kinds: numbers, -inf, intervals, fewer than there are states.
Example random_example(int num_variables, int num_states, Random& random) {
  Example example;
  example.variable = static_cast<int>(random.below(static_cast<std::uint64_t>(num_variables)));
  for (int v = 0; v < num_variables; ++v) example.states.push_back(static_cast<int>(random.below(3)) - 1);
  const bool is_interval = random.uniform() < 0.4;
  const int entries = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(num_states)));
  for (int a = 0; a < entries; ++a) {
    example.target.push_back(random.uniform() < 0.2 ? -kInf : static_cast<float>(random.normal()));
    if (is_interval) {
      const bool is_unknown = random.uniform() < 0.2 && std::isinf(example.target.back());
      example.high.push_back(is_unknown ? -kInf : std::max(example.target.back(), 0.0F) + 0.5F);
    }
  }
  return example;
}

std::vector<GnnSample> samples_of(const std::vector<Example>& examples, const std::vector<GnnPlan>& plans) {
  std::vector<GnnSample> samples;
  for (const Example& e : examples) {
    samples.push_back({.plan = plans.empty() ? nullptr : &plans[static_cast<std::size_t>(e.plan)],
                       .states = e.states,
                       .variable = e.variable,
                       .target = e.target,
                       .high = e.high});
  }
  return samples;
}

void expect_near(std::span<const float> got, std::span<const float> expected, double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], tolerance) << i;
}

// Three steps of Adam with the same samples here and there: errors, gradients, parameters, moments.
template <typename Network, typename Accumulate>
void expect_same_training(Network& network, std::span<const GnnSample> samples, const Accumulate& accumulate) {
  const std::unique_ptr<DeviceNetwork> device = make_device_network(network, Device::kKernels);
  const std::size_t size = network.parameters().size();
  Adam adam({.learning_rate = 1e-2}, size);
  for (int step = 1; step <= 3; ++step) {
    FloatBuffer gradient(size), there(size);
    const double error = accumulate(gradient);
    EXPECT_NEAR(device->set_gradient(samples), error, 1e-4 * (1.0 + error));
    device->read_gradient(there);
    expect_near(there, gradient, 1e-4);
    const float largest = std::abs(
        *std::max_element(there.begin(), there.end(), [](float a, float b) { return std::abs(a) < std::abs(b); }));
    EXPECT_EQ(device->largest_gradient(), largest);
    // From the same gradient: where one is 0 but for rounding, Adam makes a step of its sign.
    device->write(network.parameters().values(), adam);
    adam.step(network.parameters().values(), there);
    device->adam_step(adam.options, step);
    FloatBuffer values(size);
    Adam adam_there({}, size);
    device->read(values, adam_there);
    expect_near(values, network.parameters().values(), 1e-6);
    expect_near(adam_there.first_moment, adam.first_moment, 1e-6);
    expect_near(adam_there.second_moment, adam.second_moment, 1e-6);
  }
}

test::KindedGraph random_graph(int num_variables, int num_factors, Random& random) {
  test::KindedGraph model;
  for (int v = 0; v < num_variables; ++v) model.graph.add_variable(v % 2 == 0 ? 2 : 3);
  for (int m = 0; m < num_factors; ++m) {
    std::vector<int> scope = random.permutation(num_variables);
    scope.resize(1 + random.below(3));
    std::size_t entries = 1;
    for (const int v : scope) entries *= static_cast<std::size_t>(model.graph.num_states(v));
    std::vector<double> values(entries);
    for (double& value : values) value = random.normal();
    model.graph.add_table(scope, values);
    model.kinds.push_back(m % 2 == 0 ? "majority" : "table");
  }
  return model;
}

class DeviceGnn : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Iterations, DeviceGnn, testing::Values(1, 2, 3, 5));

TEST_P(DeviceGnn, AgreesWithTheProcessor) {
  Random random(static_cast<std::uint64_t>(GetParam()), "device_gnn");
  const GnnOptions options = {.kinds = {"majority", "table"}, .num_states = 3, .iterations = GetParam()};
  Gnn network(options, random);
  std::vector<GnnPlan> plans;
  std::vector<int> sizes = {3, 7, 12};
  for (const int n : sizes) {
    const test::KindedGraph model = random_graph(n, 2 * n, random);
    plans.emplace_back(model.graph, model.kinds, options);
  }
  std::vector<Example> examples;
  for (int i = 0; i < 37; ++i) {
    examples.push_back(random_example(sizes[static_cast<std::size_t>(i % 3)], 3, random));
    examples.back().plan = i % 3;
  }
  const std::vector<GnnSample> samples = samples_of(examples, plans);
  GnnScratch scratch;
  std::vector<float> q(samples.size() * 3), expected;
  make_device_network(network, Device::kKernels)->q_values(samples, q);
  const auto shared = std::make_shared<const Gnn>(network);
  for (const GnnSample& sample : samples) {
    std::vector<float> row(3);
    GnnEvaluator(shared, *sample.plan).q_values(sample.variable, sample.states, scratch, row);
    expected.insert(expected.end(), row.begin(), row.end());
  }
  expect_near(q, expected, 1e-5);
  expect_same_training(network, samples,
                       [&](FloatBuffer& gradient) { return accumulate_gradient(network, samples, scratch, gradient); });
}

TEST(DeviceMlp, AgreesWithTheProcessor) {
  Random random(7, "device_mlp");
  Mlp network({.num_variables = 9, .num_states = 3, .hidden = {32, 48, 16}}, random);
  std::vector<Example> examples;
  for (int i = 0; i < 21; ++i) examples.push_back(random_example(9, 3, random));
  const std::vector<GnnSample> samples = samples_of(examples, {});
  MlpScratch scratch;
  std::vector<float> q(samples.size() * 3), expected;
  make_device_network(network, Device::kKernels)->q_values(samples, q);
  std::vector<MlpSample> mlp_samples;
  for (const GnnSample& s : samples) {
    std::vector<float> row(3);
    network.q_values(s.variable, s.states, scratch, row);
    expected.insert(expected.end(), row.begin(), row.end());
    mlp_samples.push_back({.states = s.states, .variable = s.variable, .target = s.target, .high = s.high});
  }
  expect_near(q, expected, 1e-5);
  expect_same_training(network, samples, [&](FloatBuffer& gradient) {
    return network.accumulate_gradient(mlp_samples, scratch, gradient);
  });
}

TEST(DeviceNetwork, RefusesWhatTheProcessorRefuses) {
  Random random(8, "device");
  const Mlp network({.num_variables = 2, .num_states = 2, .hidden = {16}}, random);
  const auto device = make_device_network(network, Device::kKernels);
  const std::vector<int> states = {0, -1}, wrong = {0, 2};
  const std::vector<float> good = {1.0F, 2.0F}, nan = {std::nanf(""), 0.0F}, low = {1.0F, 0.0F}, high = {0.0F, 1.0F};
  const auto gradient = [&](const GnnSample& sample) { device->set_gradient({&sample, 1}); };
  EXPECT_THROW(gradient({.states = wrong, .variable = 1, .target = good}), Error);
  EXPECT_THROW(gradient({.states = states, .variable = 2, .target = good}), Error);
  EXPECT_THROW(gradient({.states = states, .variable = 1, .target = nan}), Error);
  EXPECT_THROW(gradient({.states = states, .variable = 1, .target = low, .high = high}), Error);
  EXPECT_THROW(device->set_gradient({}), Error);
  EXPECT_THROW(make_device_network(network, Device::kCpu), Error);
  EXPECT_THROW(parse_device("gpu"), Error);
  const Gnn global({.kinds = {"not"}, .num_states = 2, .iterations = 2, .global_after = 1}, random);
  EXPECT_THROW(make_device_network(global, Device::kKernels), Error);
}

TEST(DeviceNetwork, ANetworkThatHasDivergedIsNoticed) {
  Random random(9, "device");
  Mlp network({.num_variables = 2, .num_states = 2, .hidden = {16}}, random);
  network.parameters().values()[network.parameters().tensors().back().offset] = std::nanf("");
  const auto device = make_device_network(network, Device::kKernels);
  const std::vector<int> states = {0, -1};
  const std::vector<float> target = {1.0F, 2.0F};
  const GnnSample sample = {.states = states, .variable = 1, .target = target};
  EXPECT_TRUE(std::isnan(device->set_gradient({&sample, 1})));
  EXPECT_EQ(device->largest_gradient(), kInf);
}

}  // namespace
}  // namespace treesample
