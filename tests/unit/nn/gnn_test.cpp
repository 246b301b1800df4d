#include "treesample/nn/gnn.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <thread>
#include <utility>

#include "support/gnn_problems.hpp"
#include "treesample/error.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

using test::KindedGraph;
using test::random_graph;
using test::random_prefix;
using test::ReferenceTensors;
using test::three_kinds;
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

}  // namespace
}  // namespace treesample
