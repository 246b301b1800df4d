#include "treesample/nn/gnn.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>

#include "support/nn_reference.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/nn/adam.hpp"

namespace treesample {
namespace {

using test::KindedGraph;
using test::ReferenceTensors;

// Random factors of arity 1 to 4 of three kinds over variables of 2 and 3 states; tables hold -inf too.
KindedGraph random_graph(int num_variables, int num_factors, Random& random) {
  KindedGraph model;
  for (int v = 0; v < num_variables; ++v) model.graph.add_variable(v % 3 == 2 ? 3 : 2);
  const std::vector<std::string> kinds = {"not", "majority", "table"};
  for (int m = 0; m < num_factors; ++m) {
    std::vector<int> scope = random.permutation(num_variables);
    scope.resize(1 + random.below(4));
    std::size_t entries = 1;
    for (const int v : scope) entries *= static_cast<std::size_t>(model.graph.num_states(v));
    std::vector<double> values(entries);
    for (double& value : values) value = random.uniform() < 0.1 ? -HUGE_VAL : random.normal();
    model.graph.add_table(scope, values);
    model.kinds.push_back(kinds[m % 3]);
  }
  return model;
}

GnnOptions three_kinds(int iterations = 4) {
  return {.kinds = {"not", "majority", "table"}, .num_states = 3, .iterations = iterations};
}

std::vector<int> random_prefix(const FactorGraph& graph, double share, Random& random) {
  std::vector<int> states;
  for (int v = 0; v < graph.num_variables(); ++v) {
    const int state = static_cast<int>(random.below(static_cast<std::uint64_t>(graph.num_states(v))));
    states.push_back(random.uniform() < share ? state : -1);
  }
  return states;
}

std::vector<float> evaluate(const GnnEvaluator& evaluator, int num_states, int variable, std::span<const int> states,
                            std::size_t count = 1) {
  GnnScratch scratch;
  std::vector<float> q(count * static_cast<std::size_t>(num_states));
  evaluator.q_values(variable, states, scratch, q);
  return q;
}

class GnnIterations : public testing::TestWithParam<std::pair<int, int>> {};  // and the global value's
INSTANTIATE_TEST_SUITE_P(Counts, GnnIterations,
                         testing::Values(std::pair(1, 0), std::pair(2, 0), std::pair(3, 0), std::pair(4, 0),
                                         std::pair(6, 0), std::pair(2, 1), std::pair(4, 2), std::pair(4, 3)));

TEST_P(GnnIterations, PrunedEqualsDense) {
  Random random(1, "gnn");
  GnnOptions options = three_kinds(GetParam().first);
  options.global_after = GetParam().second;
  for (int trial = 0; trial < 4; ++trial) {
    const KindedGraph model = random_graph(9, 3 + 3 * trial, random);
    const auto network = std::make_shared<const Gnn>(options, random);
    const GnnEvaluator evaluator(network, GnnPlan(model.graph, model.kinds, options));
    const ReferenceTensors tensors(network->parameters().to_tensors(network->parameters().values()));
    for (int v = 0; v < model.graph.num_variables(); ++v) {
      const std::vector<int> states = random_prefix(model.graph, 0.25 * trial, random);
      const auto q = evaluate(evaluator, options.num_states, v, states);
      const auto expected = test::reference_gnn(tensors, options, model, states, v);
      for (int a = 0; a < options.num_states; ++a) EXPECT_NEAR(q[a], expected[a], 1e-5 * (1.0 + std::abs(expected[a])));
    }
  }
}

TEST(Gnn, BatchGivesTheBitsOfSingleStates) {
  Random random(2, "gnn");
  const GnnOptions options = three_kinds();
  const KindedGraph model = random_graph(10, 12, random);
  const GnnEvaluator evaluator(std::make_shared<const Gnn>(options, random),
                               GnnPlan(model.graph, model.kinds, options));
  constexpr int kCount = 37;  // more than one chunk, and a ragged last one
  std::vector<int> states;
  for (int r = 0; r < kCount; ++r) {
    const std::vector<int> prefix = random_prefix(model.graph, 0.5, random);
    states.insert(states.end(), prefix.begin(), prefix.end());
  }
  const auto batch = evaluate(evaluator, 3, 4, states, kCount);
  for (int r = 0; r < kCount; ++r) {
    const auto single = evaluate(evaluator, 3, 4, std::span(states).subspan(static_cast<std::size_t>(r) * 10, 10));
    for (int a = 0; a < 3; ++a) EXPECT_EQ(batch[r * 3 + a], single[a]) << "row " << r;
  }
}

// The same model with variables, factors and the variables inside each scope in another order.
KindedGraph relabel(const KindedGraph& model, const std::vector<int>& new_of_old, Random& random) {
  KindedGraph result;
  std::vector<int> old_of_new(new_of_old.size());
  for (std::size_t v = 0; v < new_of_old.size(); ++v) old_of_new[new_of_old[v]] = static_cast<int>(v);
  for (const int v : old_of_new) result.graph.add_variable(model.graph.num_states(v));
  for (const int m : random.permutation(model.graph.num_factors())) {
    const Factor& factor = model.graph.factor(m);
    std::vector<int> scope;
    for (const int position : random.permutation(static_cast<int>(factor.scope().size()))) {
      scope.push_back(new_of_old[factor.scope()[position]]);
    }
    std::vector<double> values(factor.log_values().size());
    std::vector<int> x(new_of_old.size(), 0);
    for (double& value : values) {
      std::vector<int> old_x(x.size());
      for (std::size_t v = 0; v < x.size(); ++v) old_x[v] = x[new_of_old[v]];
      value = model.graph.log_value(m, old_x);
      for (auto v = scope.rbegin(); v != scope.rend() && ++x[*v] == result.graph.num_states(*v); ++v) x[*v] = 0;
    }
    result.graph.add_table(scope, values);
    result.kinds.push_back(model.kinds[m]);
  }
  return result;
}

TEST(Gnn, RelabellingVariablesAndFactorsChangesNothing) {
  Random random(3, "gnn");
  const GnnOptions options = three_kinds();
  const auto network = std::make_shared<const Gnn>(options, random);
  const KindedGraph model = random_graph(8, 10, random);
  const std::vector<int> new_of_old = random.permutation(8);
  const KindedGraph other = relabel(model, new_of_old, random);
  const GnnEvaluator first(network, GnnPlan(model.graph, model.kinds, options));
  const GnnEvaluator second(network, GnnPlan(other.graph, other.kinds, options));
  for (int v = 0; v < 8; ++v) {
    const std::vector<int> states = random_prefix(model.graph, 0.5, random);
    std::vector<int> moved(states.size());
    for (std::size_t u = 0; u < states.size(); ++u) moved[new_of_old[u]] = states[u];
    const auto q = evaluate(first, 3, v, states);
    const auto q_moved = evaluate(second, 3, new_of_old[v], moved);
    for (int a = 0; a < 3; ++a) EXPECT_NEAR(q[a], q_moved[a], 1e-5);
  }
}

// x0 - "table" - x1 - "not" - x2.
KindedGraph short_path(double entry) {
  KindedGraph model;
  for (int v = 0; v < 3; ++v) model.graph.add_variable(2);
  model.graph.add_table({0, 1}, {entry, 0.0, 0.5, 1.0});
  model.graph.add_table({1, 2}, {0.0, 2.0, 2.0, 0.0});
  model.kinds = {"table", "not"};
  return model;
}

TEST(Gnn, KindsAndTablesAndStatesMatter) {
  Random random(4, "gnn");
  const GnnOptions options = three_kinds();
  const auto network = std::make_shared<const Gnn>(options, random);
  const auto q_of = [&](const KindedGraph& model, const std::vector<int>& states) {
    return evaluate({network, GnnPlan(model.graph, model.kinds, options)}, 3, 2, states);
  };
  KindedGraph model = short_path(0.0);
  const auto q = q_of(model, {-1, -1, -1});
  EXPECT_NE(q, q_of(short_path(1.0), {-1, -1, -1}));
  EXPECT_NE(q, q_of(model, {0, -1, -1}));
  EXPECT_NE(q_of(model, {1, -1, -1}), q_of(model, {0, -1, -1}));
  model.kinds[1] = "majority";
  EXPECT_NE(q, q_of(model, {-1, -1, -1}));
}

struct Batch {
  std::vector<GnnPlan> plans;
  std::vector<KindedGraph> models;
  std::vector<std::vector<int>> states;
  std::vector<std::vector<float>> targets;
  std::vector<GnnSample> samples;
};

// Samples from three graphs of `size` variables and more, some targets -inf.
Batch random_batch(const GnnOptions& options, int count, Random& random, int size = 4) {
  Batch batch;
  for (int g = 0; g < 3; ++g) {
    batch.models.push_back(random_graph(size + g, size + 2 * g, random));
    batch.plans.emplace_back(batch.models.back().graph, batch.models.back().kinds, options);
  }
  batch.states.resize(static_cast<std::size_t>(count));
  batch.targets.resize(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const FactorGraph& graph = batch.models[i % 3].graph;
    const int variable = static_cast<int>(random.below(static_cast<std::uint64_t>(graph.num_variables())));
    batch.states[i] = random_prefix(graph, 0.5, random);
    batch.states[i][variable] = -1;
    for (int a = 0; a < graph.num_states(variable); ++a) {
      batch.targets[i].push_back(i == 1 && a == 0 ? -HUGE_VALF : static_cast<float>(2.0 * random.normal()));
    }
    batch.samples.push_back(
        {.plan = &batch.plans[i % 3], .states = batch.states[i], .variable = variable, .target = batch.targets[i]});
  }
  return batch;
}

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
  constexpr double kStep = 1e-6;
  for (const NamedTensor& tensor : network.parameters().to_tensors(gradient)) {
    // Checking every entry would take minutes; each tensor shows its largest and two random ones.
    const auto largest = std::max_element(tensor.values.begin(), tensor.values.end(),
                                          [](float a, float b) { return std::abs(a) < std::abs(b); });
    std::vector<std::size_t> entries = {static_cast<std::size_t>(largest - tensor.values.begin())};
    for (int i = 0; i < 2; ++i) entries.push_back(random.below(tensor.values.size()));
    for (const std::size_t entry : entries) {
      double& value = tensors[tensor.name][entry];
      const double saved = value;
      value = saved + kStep;
      const double above = reference_error(tensors, options, batch);
      value = saved - kStep;
      const double below = reference_error(tensors, options, batch);
      value = saved;
      const double expected = (above - below) / (2.0 * kStep);
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

TEST(Gnn, ThreadsShareOneEvaluator) {
  Random random(9, "gnn");
  const GnnOptions options = three_kinds();
  const KindedGraph model = random_graph(10, 12, random);
  const GnnEvaluator evaluator(std::make_shared<const Gnn>(options, random),
                               GnnPlan(model.graph, model.kinds, options));
  const std::vector<int> states = random_prefix(model.graph, 0.5, random);
  std::vector<std::vector<float>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) result = evaluate(evaluator, 3, i % 10, states);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, evaluate(evaluator, 3, 9, states));
}

TEST(Gnn, UnknownKindsCountAsTableWhereThereIsOne) {
  Random random(10, "gnn");
  const KindedGraph model = random_graph(5, 6, random);
  const GnnOptions with_table = {.kinds = {"table"}, .num_states = 3};
  const auto network = std::make_shared<const Gnn>(with_table, random);
  const std::vector<std::string> all_tables(6, "table");
  const std::vector<int> states(5, -1);
  EXPECT_EQ(evaluate({network, GnnPlan(model.graph, model.kinds, with_table)}, 3, 0, states),
            evaluate({network, GnnPlan(model.graph, all_tables, with_table)}, 3, 0, states));
  const GnnOptions without_table = {.kinds = {"not", "majority"}, .num_states = 3};
  EXPECT_THROW(GnnPlan(model.graph, model.kinds, without_table), Error);
}

TEST(Gnn, RefusesWhatItCannotRead) {
  Random random(11, "gnn");
  const GnnOptions options = {.kinds = {"table"}, .num_states = 2};
  FactorGraph graph;
  graph.add_variable(2);
  graph.add_factor(Factor::function({0}, [](std::span<const int>) { return 0.0; }));
  const std::vector<std::string> one = {"table"};
  EXPECT_THROW(GnnPlan(graph, one, options), Error);                         // code has no table
  EXPECT_THROW(GnnPlan(graph, std::vector<std::string>(), options), Error);  // kinds missing
  FactorGraph wide;
  wide.add_variable(3);
  EXPECT_THROW(GnnPlan(wide, {}, options), Error);  // too many states
  EXPECT_THROW(GnnOptions({.kinds = {"a", "a"}}).validate(), Error);
  EXPECT_THROW(GnnOptions({.kinds = {}}).validate(), Error);
  EXPECT_THROW(GnnOptions({.kinds = {"a"}, .iterations = 0}).validate(), Error);
  EXPECT_THROW(GnnOptions({.kinds = {"a"}, .iterations = 4, .global_after = 4}).validate(), Error);
  FactorGraph single;
  single.add_variable(2);
  const GnnPlan plan(single, {}, options);
  const auto network = std::make_shared<const Gnn>(GnnOptions{.kinds = {"table"}, .num_states = 3}, random);
  EXPECT_THROW(GnnEvaluator(network, plan), Error);
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
