#include "treesample/nn/mlp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/central_difference.hpp"
#include "support/nn_reference.hpp"
#include "treesample/error.hpp"
#include "treesample/math/random.hpp"
#include "treesample/nn/adam.hpp"

namespace treesample {
namespace {

using test::ReferenceTensors;

std::vector<int> random_prefix(const MlpOptions& options, Random& random) {
  std::vector<int> states;
  for (int v = 0; v < options.num_variables; ++v) {
    states.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(options.num_states) + 1)) - 1);
  }
  return states;
}

// More states than one panel of outputs holds, and layers of different widths.
MlpOptions small_options() { return {.num_variables = 7, .num_states = 18, .hidden = {32, 16, 48}}; }

TEST(Mlp, EqualsTheReference) {
  Random random(1, "mlp");
  for (const MlpOptions& options : {small_options(), MlpOptions{.num_variables = 20, .num_states = 2}}) {
    const Mlp network(options, random);
    const ReferenceTensors tensors(network.parameters().to_tensors(network.parameters().values()));
    MlpScratch scratch;
    std::vector<float> q(static_cast<std::size_t>(options.num_states));
    for (int variable = 0; variable < options.num_variables; ++variable) {
      const std::vector<int> states = random_prefix(options, random);
      network.q_values(variable, states, scratch, q);
      const auto expected = test::reference_mlp(tensors, options, states, variable);
      for (int a = 0; a < options.num_states; ++a) EXPECT_NEAR(q[a], expected[a], 1e-5);
    }
  }
}

TEST(Mlp, BatchGivesTheBitsOfSingleStates) {
  Random random(2, "mlp");
  const MlpOptions options = {.num_variables = 6, .num_states = 3};
  const Mlp network(options, random);
  constexpr int kCount = 131;  // more than one chunk
  std::vector<int> states;
  for (int r = 0; r < kCount; ++r) {
    const std::vector<int> prefix = random_prefix(options, random);
    states.insert(states.end(), prefix.begin(), prefix.end());
  }
  MlpScratch scratch;
  std::vector<float> batch(kCount * 3);
  network.q_values(2, states, scratch, batch);
  std::vector<float> single(3);
  for (int r = 0; r < kCount; ++r) {
    network.q_values(2, std::span(states).subspan(static_cast<std::size_t>(r) * 6, 6), scratch, single);
    for (int a = 0; a < 3; ++a) EXPECT_EQ(batch[r * 3 + a], single[a]) << "row " << r;
  }
}

struct Batch {
  std::vector<std::vector<int>> states;
  std::vector<std::vector<float>> targets;
  std::vector<MlpSample> samples;
};

Batch random_batch(const MlpOptions& options, int count, Random& random) {
  Batch batch;
  for (int i = 0; i < count; ++i) {
    batch.states.push_back(random_prefix(options, random));
    auto& target = batch.targets.emplace_back();
    for (int a = 0; a < options.num_states; ++a) target.push_back(static_cast<float>(random.normal()));
    if (i == 1) target[0] = -HUGE_VALF;
    if (i == 2) target.pop_back();  // a variable with fewer states
  }
  for (int i = 0; i < count; ++i) {
    batch.samples.push_back(
        {.states = batch.states[i], .variable = i % options.num_variables, .target = batch.targets[i]});
  }
  return batch;
}

double reference_error(const ReferenceTensors& tensors, const MlpOptions& options, const Batch& batch) {
  double error = 0.0;
  for (const MlpSample& sample : batch.samples) {
    const auto q = test::reference_mlp(tensors, options, sample.states, sample.variable);
    for (std::size_t a = 0; a < sample.target.size(); ++a) {
      if (!std::isinf(sample.target[a])) error += std::pow(q[a] - static_cast<double>(sample.target[a]), 2.0);
    }
  }
  return error / static_cast<double>(batch.samples.size());
}

TEST(Mlp, GradientEqualsFiniteDifferencesInEveryLayer) {
  Random random(3, "mlp");
  const MlpOptions options = small_options();
  const Mlp network(options, random);
  const Batch batch = random_batch(options, 11, random);
  FloatBuffer gradient(network.parameters().size(), 0.0F);
  MlpScratch scratch;
  const double error = network.accumulate_gradient(batch.samples, scratch, gradient);
  ReferenceTensors tensors(network.parameters().to_tensors(network.parameters().values()));
  EXPECT_NEAR(error, reference_error(tensors, options, batch), 1e-5 * error);
  for (const NamedTensor& tensor : network.parameters().to_tensors(gradient)) {
    double scale = 0.0;
    for (const float g : tensor.values) scale = std::max(scale, std::abs(double{g}));
    EXPECT_GT(scale, 0.0) << tensor.name;
    for (std::size_t entry = 0; entry < tensor.values.size(); entry += 1 + tensor.values.size() / 40) {
      const double expected = test::central_difference(tensors[tensor.name][entry],
                                                       [&] { return reference_error(tensors, options, batch); });
      EXPECT_NEAR(tensor.values[entry], expected, 1e-4 * scale) << tensor.name << " " << entry;
    }
  }
}

// The squared error, once as it is and once as a loss of all rows; with one chunk of rows and with several.
TEST(Mlp, GradientOfALossOfAllRowsEqualsThatOfItsSamples) {
  const MlpOptions options = small_options();
  Random random(4, "mlp");
  const Mlp network(options, random);
  for (const int count : {5, 300}) {
    std::vector<int> states;
    std::vector<MlpSample> samples;
    const std::vector<float> target(static_cast<std::size_t>(options.num_states), 0.5F);
    for (int i = 0; i < count; ++i) {
      const std::vector<int> prefix = random_prefix(options, random);
      states.insert(states.end(), prefix.begin(), prefix.end());
    }
    for (int i = 0; i < count; ++i) {
      const auto width = static_cast<std::size_t>(options.num_variables);
      samples.push_back({.states = std::span(states).subspan(static_cast<std::size_t>(i) * width, width),
                         .variable = 3,
                         .target = target});
    }
    MlpScratch scratch;
    FloatBuffer expected(network.parameters().size(), 0.0F), gradient = expected;
    network.accumulate_gradient(samples, scratch, expected);
    network.accumulate_gradient(
        3, states,
        [&](std::span<const float> q, std::span<float> g) {
          for (std::size_t i = 0; i < q.size(); ++i) g[i] = 2.0F * (q[i] - 0.5F) / static_cast<float>(count);
        },
        scratch, gradient);
    for (std::size_t p = 0; p < gradient.size(); ++p) ASSERT_NEAR(gradient[p], expected[p], 1e-6) << count << " " << p;
  }
}

TEST(Mlp, LearnsAMemorisableSetTheSameWayTwice) {
  const MlpOptions options = {.num_variables = 8, .num_states = 3, .hidden = {64, 64}};
  FloatBuffer results[2];
  for (FloatBuffer& result : results) {
    Random random(5, "mlp");
    Mlp network(options, random);
    const Batch batch = random_batch(options, 150, random);
    Adam adam({.learning_rate = 1e-3}, network.parameters().size());
    MlpScratch scratch;
    FloatBuffer gradient(network.parameters().size());
    double first = 0.0;
    double last = 0.0;
    for (int step = 0; step < 400; ++step) {
      std::fill(gradient.begin(), gradient.end(), 0.0F);
      last = network.accumulate_gradient(batch.samples, scratch, gradient);
      if (step == 0) first = last;
      adam.step(network.parameters().values(), gradient);
    }
    EXPECT_LT(last, first / 1000.0) << "from " << first;
    result.assign(network.parameters().values().begin(), network.parameters().values().end());
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(Mlp, RefusesBadArguments) {
  Random random(5, "mlp");
  EXPECT_THROW(Mlp({.num_variables = 0}, random), Error);
  EXPECT_THROW(Mlp({.num_variables = 2, .num_states = 0}, random), Error);
  EXPECT_THROW(Mlp({.num_variables = 2, .hidden = {20}}, random), Error);
  EXPECT_THROW(Mlp({.num_variables = 2, .hidden = {}}, random), Error);
  const Mlp network({.num_variables = 2, .hidden = {16}}, random);
  MlpScratch scratch;
  std::vector<float> q(2);
  const std::vector<int> states = {0, -1};
  EXPECT_THROW(network.q_values(2, states, scratch, q), Error);
  EXPECT_THROW(network.q_values(1, std::span(states).first(1), scratch, q), Error);
  EXPECT_THROW(network.q_values(1, std::vector<int>{2, -1}, scratch, q), Error);
  EXPECT_THROW(network.q_values(1, std::vector<int>{0, -2}, scratch, q), Error);
  const std::vector<float> target = {0.0F, HUGE_VALF};
  const MlpSample sample = {.states = states, .variable = 1, .target = target};
  FloatBuffer gradient(network.parameters().size());
  EXPECT_THROW(network.accumulate_gradient({&sample, 1}, scratch, gradient), Error);
}

}  // namespace
}  // namespace treesample
