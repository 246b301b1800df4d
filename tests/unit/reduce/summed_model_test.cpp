#include "treesample/reduce/summed_model.hpp"

#include <gtest/gtest.h>
#include <array>

#include <cmath>

#include "support/random_models.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// A conditional probability table of the last variable of the scope, with zeros but no row of them.
void add_conditional(FactorGraph& graph, std::vector<int> scope, Random& random) {
  std::size_t num_rows = 1;
  for (std::size_t i = 0; i + 1 < scope.size(); ++i) num_rows *= static_cast<std::size_t>(graph.num_states(scope[i]));
  std::vector<double> values;
  for (std::size_t row = 0; row < num_rows; ++row) {
    std::vector<double> logs(static_cast<std::size_t>(graph.num_states(scope.back())));
    for (double& value : logs) value = random.uniform() < 0.2 ? kNegInf : random.normal();
    logs.front() = random.normal();
    const double log_sum = log_sum_exp(logs);
    for (const double value : logs) values.push_back(value - log_sum);
  }
  graph.add_table(std::move(scope), std::move(values));
}

// A Bayesian network over six variables in which some have a further factor, as evidence leaves it.
FactorGraph random_network(Random& random, double evidence_probability) {
  FactorGraph graph;
  for (int v = 0; v < 6; ++v) graph.add_variable(1 + static_cast<int>(random.below(3)));
  for (int v = 0; v < 6; ++v) {
    std::vector<int> scope;
    for (int u = 0; u < v; ++u) {
      if (random.uniform() < 0.4 && scope.size() < 3) scope.push_back(u);
    }
    scope.push_back(v);
    add_conditional(graph, std::move(scope), random);
  }
  for (int v = 0; v < 6; ++v) {
    if (random.uniform() >= evidence_probability) continue;
    std::vector<double> values(static_cast<std::size_t>(graph.num_states(v)));
    for (double& value : values) value = random.normal();
    graph.add_table({v}, std::move(values));
  }
  return graph;
}

TEST(SummedModel, KeepsLogZAndLogProbs) {
  Random random(1);
  int num_summed_out = 0, num_left = 0;
  for (int i = 0; i < 200; ++i) {
    const FactorGraph graph = random_network(random, 0.05 * (i % 5));
    const Enumeration exact = enumerate(graph);
    const auto model = std::make_shared<const SummedModel>(graph);
    num_summed_out += model->num_summed_out();
    num_left += model->graph().num_variables();
    ASSERT_EQ(model->num_summed_out() + model->graph().num_variables(), 6);
    const auto elimination = std::make_shared<const Elimination>(model->graph());
    ASSERT_NEAR(elimination->log_z(), exact.log_z, 1e-12);
    ASSERT_LT(model->log_slack(), 1e-12);
    const CompletedApproximation completed(model, elimination);
    for (std::size_t c = 0; c < exact.log_probs.size(); ++c) {
      const double found = completed.log_prob(configuration_at(graph, c));
      ASSERT_TRUE(found == exact.log_probs[c] || std::abs(found - exact.log_probs[c]) < 1e-10) << i;
    }
  }
  EXPECT_GT(num_summed_out, 200);
  EXPECT_GT(num_left, 200);
}

TEST(SummedModel, ANetworkWithoutEvidenceVanishes) {
  Random random(2);
  const FactorGraph graph = random_network(random, 0.0);
  const SummedModel model(graph);
  EXPECT_EQ(model.graph().num_variables(), 0);
  EXPECT_NEAR(Elimination(model.graph()).log_z(), 0.0, 1e-12);
}

// log p of what was drawn is that of the sample; frequencies are those of the target (5 standard errors each).
TEST(SummedModel, DrawsFromTheTarget) {
  Random random(3);
  const FactorGraph graph = random_network(random, 0.0);
  const Enumeration exact = enumerate(graph);
  const SummedModel model(graph);
  constexpr int kNumSamples = 20'000;
  Marginals counts;
  for (int v = 0; v < 6; ++v) counts.emplace_back(static_cast<std::size_t>(graph.num_states(v)), 0.0);
  for (int i = 0; i < kNumSamples; ++i) {
    Assignment x = model.spread({});
    const double log_prob = model.draw(x, random);
    ASSERT_NEAR(log_prob, graph.log_density(x), 1e-12);
    ASSERT_NEAR(log_prob, model.log_prob(x), 1e-12);
    for (int v = 0; v < 6; ++v) counts[v][x[v]] += 1.0 / kNumSamples;
  }
  for (int v = 0; v < 6; ++v) {
    for (int s = 0; s < graph.num_states(v); ++s) {
      const double p = exact.marginals[v][s];
      EXPECT_NEAR(counts[v][s], p, 5.0 * std::sqrt(p * (1.0 - p) / kNumSamples) + 1e-12);
    }
  }
}

// A variable of many states is drawn from sums made beforehand. x1 has two rows, and every third state is impossible.
TEST(SummedModel, DrawsVariablesOfManyStatesFromTheTarget) {
  constexpr int kStates = 1000, kNumSamples = 20'000;
  FactorGraph graph = testing::variables({2, kStates});
  graph.add_variable(kStates);  // without a factor
  std::vector<double> table(2 * kStates);
  for (int row = 0; row < 2; ++row) {
    double sum = 0.0;
    const auto weight = [&](int s) { return s % 3 == 0 ? 0.0 : 1.0 + (row == 0 ? s : kStates - s); };
    for (int s = 0; s < kStates; ++s) sum += weight(s);
    for (int s = 0; s < kStates; ++s) table[s * 2 + row] = std::log(weight(s) / sum);
  }
  graph.add_table({1, 0}, table);
  graph.add_table({0}, {std::log(0.5), std::log(0.5)});
  const SummedModel model(graph);
  ASSERT_EQ(model.num_summed_out(), 3);
  Random random(4);
  std::array<double, 2> low = {}, count = {};
  double low_uniform = 0.0;
  for (int i = 0; i < kNumSamples; ++i) {
    Assignment x = model.spread({});
    const double log_prob = model.draw(x, random);
    ASSERT_NE(x[1] % 3, 0);
    ASSERT_NEAR(log_prob, model.log_prob(x), 1e-10);
    count[x[0]] += 1.0;
    low[x[0]] += x[1] < kStates / 2 ? 1.0 : 0.0;
    low_uniform += x[2] < kStates / 2 ? 1.0 : 0.0;
  }
  // Five standard deviations: a false alarm in a million runs.
  EXPECT_NEAR(low[0] / count[0], 0.25, 5.0 * std::sqrt(0.1875 / count[0]) + 1e-3);
  EXPECT_NEAR(low[1] / count[1], 0.75, 5.0 * std::sqrt(0.1875 / count[1]) + 1e-3);
  EXPECT_NEAR(low_uniform / kNumSamples, 0.5, 5.0 * std::sqrt(0.25 / kNumSamples));
}

TEST(SummedModel, LeavesWhatSaysSomething) {
  Random random(4);
  FactorGraph graph = testing::variables(3, 2);
  for (const std::vector<int>& scope : {std::vector<int>{0, 1}, {1, 2}}) {
    graph.add_table(scope, {random.normal(), random.normal(), random.normal(), random.normal()});
  }
  const SummedModel model(graph);
  EXPECT_EQ(model.num_summed_out(), 0);
  EXPECT_EQ(model.graph().num_factors(), graph.num_factors());
  EXPECT_EQ(model.variable_of(), (std::vector<int>{0, 1, 2}));
  // A row without a possible state is news about the parents, and functions are not looked into.
  FactorGraph other = testing::variables({2, 2, 2});
  other.add_table({0, 1}, {std::log(0.7), std::log(0.3), kNegInf, kNegInf});
  other.add_factor(Factor::function({2}, [](std::span<const int>) { return 0.0; }));
  EXPECT_EQ(SummedModel(other).num_summed_out(), 0);
}

TEST(SummedModel, BestCompletionIsTheMostProbableState) {
  FactorGraph graph = testing::variables({2, 3});
  graph.add_table({0}, {std::log(0.4), std::log(0.6)});
  graph.add_table({1, 0}, {std::log(0.2), std::log(0.5), std::log(0.7), std::log(0.2), std::log(0.1), std::log(0.3)});
  const SummedModel model(graph);
  ASSERT_EQ(model.num_summed_out(), 2);
  Assignment x = model.spread({});
  model.choose_best(x);
  EXPECT_EQ(x, (Assignment{1, 0}));
}

// A row of zeros stays as a table over the parents; given an impossible row, all states are as likely, so that
// probabilities add up whatever a sampler draws. With few states, and with many, which are drawn in another way.
// Of log-values whose unit in the last place is 1e-4.
TEST(SummedModel, ProbabilitiesOfLargeNumbersAddUp) {
  FactorGraph graph;
  graph.add_variable(2);
  graph.add_variable(4);
  std::vector<double> values;
  for (const double value : {0.0, 1.0, -2.0, 0.5, 1.0, 0.0, 0.5, -2.0}) values.push_back(1e12 + value);
  graph.add_table({0, 1}, values);
  for (int i = 0; i < 2; ++i) graph.add_table({0}, {0.0, -1.0});  // x0 alone in one table would be summed out
  const SummedModel summed(graph);
  ASSERT_EQ(summed.num_summed_out(), 1);
  for (int state = 0; state < 2; ++state) {
    double total = 0.0;
    for (int s = 0; s < 4; ++s) total += std::exp(summed.log_prob(std::vector<int>{state, s}));
    EXPECT_NEAR(total, 1.0, 1e-12);
  }
}

TEST(SummedModel, AVariableWithRowsOfZerosStays) {
  FactorGraph graph;
  for (const int states : {2, 3}) graph.add_variable(states);
  graph.add_table({0}, {0.3, -0.2});
  graph.add_table({0, 1}, {0.5, kNegInf, kNegInf, kNegInf, kNegInf, kNegInf});
  EXPECT_EQ(SummedModel(graph).num_summed_out(), 0);
}

}  // namespace
}  // namespace treesample
