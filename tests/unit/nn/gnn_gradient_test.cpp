#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "support/central_difference.hpp"
#include "support/gnn_problems.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/nn/adam.hpp"

namespace treesample {
namespace {

using test::Batch;
using test::KindedGraph;
using test::random_batch;
using test::ReferenceTensors;
using test::three_kinds;

// A Bellman term for each sample: all but every fourth, which is a last one, get a row for what comes after them.
void add_bellman_terms(Batch& batch, double weight, Random& random) {
  const std::vector<GnnSample> samples = std::exchange(batch.samples, {});
  for (std::size_t i = 0; i < samples.size(); ++i) {
    GnnSample sample = samples[i];
    const FactorGraph& graph = batch.models[i % 3].graph;
    const int next = (sample.variable + 1) % graph.num_variables();
    sample.bellman = {.weight = weight,
                      .action = static_cast<int>(sample.target.size()) - 1,
                      .reward = random.normal(),
                      .num_next = i % 4 == 3 ? 0 : graph.num_states(next)};
    batch.samples.push_back(sample);
    if (i % 4 == 3) continue;
    batch.states.emplace_back(sample.states.begin(), sample.states.end());
    batch.states.back()[sample.variable] = sample.bellman.action;
    batch.states.back()[next] = -1;
    batch.samples.push_back({.plan = sample.plan, .states = batch.states.back(), .variable = next});
  }
}

double reference_error(const ReferenceTensors& tensors, const GnnOptions& options, const Batch& batch) {
  const auto q_of = [&](const GnnSample& sample) {
    const KindedGraph& model = batch.models[sample.plan - batch.plans.data()];
    return test::reference_gnn(tensors, options, model, sample.states, sample.variable);
  };
  double error = 0.0;
  double count = 0.0;
  for (std::size_t i = 0; i < batch.samples.size(); ++i) {
    const GnnSample& sample = batch.samples[i];
    if (sample.target.empty()) continue;
    count += 1.0;
    const auto q = q_of(sample);
    for (std::size_t a = 0; a < sample.target.size(); ++a) {
      if (!std::isinf(sample.target[a])) error += std::pow(q[a] - static_cast<double>(sample.target[a]), 2.0);
    }
    const BellmanTerm& term = sample.bellman;
    double value = 0.0;
    if (term.num_next > 0) {
      test::Vector next = q_of(batch.samples[i + 1]);
      next.resize(static_cast<std::size_t>(term.num_next));
      value = log_sum_exp(next);
    }
    error += term.weight * std::pow(term.reward + value - q[term.action], 2.0);
  }
  return error / count;
}

struct GradientCase {
  int iterations = 4;
  int global_after = 0;
  double bellman_weight = 0.0;
};
class GnnGradient : public testing::TestWithParam<GradientCase> {};
INSTANTIATE_TEST_SUITE_P(Losses, GnnGradient,
                         testing::Values(GradientCase{}, GradientCase{.bellman_weight = 0.7},
                                         GradientCase{.global_after = 1}, GradientCase{.global_after = 3},
                                         GradientCase{.iterations = 3, .global_after = 2, .bellman_weight = 1.5}));

TEST_P(GnnGradient, EqualsFiniteDifferencesInEveryLayer) {
  Random random(5, "gnn");
  GnnOptions options = three_kinds(GetParam().iterations);
  options.global_after = GetParam().global_after;
  const Gnn network(options, random);
  Batch batch = random_batch(options, 9, random);
  batch.states.reserve(2 * batch.states.size());
  if (GetParam().bellman_weight > 0.0) add_bellman_terms(batch, GetParam().bellman_weight, random);
  FloatBuffer gradient(network.parameters().size(), 0.0F);
  GnnScratch scratch;
  const double error = accumulate_gradient(network, batch.samples, scratch, gradient);
  ReferenceTensors tensors(network.parameters().to_tensors(network.parameters().values()));
  EXPECT_NEAR(error, reference_error(tensors, options, batch), 1e-5 * error);
  for (const NamedTensor& tensor : network.parameters().to_tensors(gradient)) {
    // Checking every entry would take minutes; each tensor shows its largest and two random ones.
    const auto largest = std::max_element(tensor.values.begin(), tensor.values.end(),
                                          [](float a, float b) { return std::abs(a) < std::abs(b); });
    std::vector<std::size_t> entries = {static_cast<std::size_t>(largest - tensor.values.begin())};
    for (int i = 0; i < 2; ++i) entries.push_back(random.below(tensor.values.size()));
    for (const std::size_t entry : entries) {
      const double expected = test::central_difference(tensors[tensor.name][entry],
                                                       [&] { return reference_error(tensors, options, batch); });
      EXPECT_NEAR(tensor.values[entry], expected, 1e-4 * (std::abs(expected) + std::abs(*largest)) + 1e-7)
          << tensor.name << " entry " << entry;
    }
  }
}

// More rows than a chunk has, so that some chunk would end between a row and the one after it.
TEST(Gnn, RowsOfABellmanTermStayTogether) {
  Random random(9, "gnn");
  const GnnOptions options = three_kinds();
  const Gnn network(options, random);
  Batch batch = random_batch(options, 30, random);
  batch.states.reserve(2 * batch.states.size());
  add_bellman_terms(batch, 1.0, random);
  ASSERT_GT(batch.samples.size(), 48U);
  FloatBuffer gradient(network.parameters().size(), 0.0F);
  GnnScratch scratch;
  const double error = accumulate_gradient(network, batch.samples, scratch, gradient);
  const ReferenceTensors tensors(network.parameters().to_tensors(network.parameters().values()));
  EXPECT_NEAR(error, reference_error(tensors, options, batch), 1e-5 * error);
  batch.samples.pop_back();
  ASSERT_GT(batch.samples.back().bellman.num_next, 0);
  EXPECT_THROW(accumulate_gradient(network, batch.samples, scratch, gradient), Error);
  batch.samples.back().bellman = {.weight = 1.0, .reward = -HUGE_VAL};
  EXPECT_THROW(accumulate_gradient(network, batch.samples, scratch, gradient), Error);
}

TEST(Gnn, GradientIsAddedAndChunksAgree) {
  Random random(6, "gnn");
  const GnnOptions options = three_kinds();
  const Gnn network(options, random);
  const Batch batch = random_batch(options, 40, random);
  GnnScratch scratch;
  FloatBuffer whole(network.parameters().size(), 0.0F);
  accumulate_gradient(network, batch.samples, scratch, whole);
  FloatBuffer one_by_one(network.parameters().size(), 0.0F);
  for (const GnnSample& sample : batch.samples) accumulate_gradient(network, {&sample, 1}, scratch, one_by_one);
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(one_by_one[i] / 40.0, whole[i], 1e-4);
}

TEST(Gnn, LearnsAMemorisableSet) {
  Random random(7, "gnn");
  const GnnOptions options = three_kinds();
  Gnn network(options, random);
  const Batch batch = random_batch(options, 16, random, 7);
  Adam adam({.learning_rate = 3e-3}, network.parameters().size());
  GnnScratch scratch;
  FloatBuffer gradient(network.parameters().size());
  double first = 0.0;
  double last = 0.0;
  for (int step = 0; step < 1500; ++step) {
    std::fill(gradient.begin(), gradient.end(), 0.0F);
    last = accumulate_gradient(network, batch.samples, scratch, gradient);
    if (step == 0) first = last;
    adam.step(network.parameters().values(), gradient);
  }
  EXPECT_LT(last, first / 50.0) << "from " << first;
}

TEST(Gnn, SameSeedSameBits) {
  const GnnOptions options = three_kinds();
  FloatBuffer gradients[2];
  for (FloatBuffer& gradient : gradients) {
    Random random(8, "gnn");
    const Gnn network(options, random);
    const Batch batch = random_batch(options, 20, random);
    gradient.assign(network.parameters().size(), 0.0F);
    GnnScratch scratch;
    accumulate_gradient(network, batch.samples, scratch, gradient);
  }
  EXPECT_EQ(gradients[0], gradients[1]);
}

TEST(Gnn, BadSamplesAreRefused) {
  Random random(12, "gnn");
  const GnnOptions options = three_kinds();
  const Gnn network(options, random);
  FloatBuffer gradient(network.parameters().size(), 0.0F);
  GnnScratch scratch;
  const auto refuses = [&](auto&& damage) {
    Batch batch = random_batch(options, 3, random);
    damage(batch);
    EXPECT_THROW(accumulate_gradient(network, batch.samples, scratch, gradient), Error);
  };
  refuses([](Batch& batch) { batch.targets[2][0] = NAN; });
  refuses([](Batch& batch) { batch.states[2][0] = 3; });
  refuses([](Batch& batch) { batch.states[2][0] = -2; });
  refuses([](Batch& batch) { batch.samples[2].variable = 99; });
  refuses([](Batch& batch) { batch.samples[2].plan = nullptr; });
  refuses([](Batch& batch) { batch.samples[2].states = batch.samples[2].states.first(1); });
}

}  // namespace
}  // namespace treesample
