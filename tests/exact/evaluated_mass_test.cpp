#include "treesample/tree/evaluated_mass.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/search_models.hpp"
#include "tree/tree_store.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/tree/tree_sample.hpp"
#include "treesample/value/telescoped_value.hpp"

namespace treesample {
namespace {

using testing::for_each_configuration;
using testing::HashValue;
using testing::model_options;
using testing::random_model;
using testing::space_of;

bool is_evaluated(const TreeApproximation& approximation, const Assignment& x) {
  const SearchSpace& space = approximation.space();
  NodeIndex index = approximation.store().root();
  for (int n = 0; n < space.num_levels(); ++n) {
    if (index == kNoNode) return false;
    const int action = x[space.levels[n].variable];
    const Node node = approximation.store().node(n, index);
    if (!node.is_expanded(action)) return false;
    if (n + 1 < space.num_levels()) index = node.link(action);
  }
  return true;
}

// log of the sum over these configurations, in long double.
double enumerated_mass(const TreeApproximation& approximation, const FactorGraph& graph) {
  long double sum = 0.0L;
  for_each_configuration(graph, [&](const Assignment& x) {
    if (is_evaluated(approximation, x)) sum += std::exp(static_cast<long double>(graph.log_density(x)));
  });
  return static_cast<double>(std::log(sum));
}

TEST(EvaluatedMass, IsTheSumOverEvaluatedConfigurations) {
  Random random(41);
  int num_partial = 0;
  for (int variant = 0; variant < 120; ++variant) {
    const FactorGraph graph = random_model(random, model_options(variant));
    if (!graph.has_only_tables()) continue;
    const double log_z = enumerate(graph).log_z;
    for (const OrderKind order : {OrderKind::kGiven, OrderKind::kMinFill}) {
      const SearchSpace space = space_of(graph, SpaceKind::kTree, order);
      LeafValues leaves;
      if (variant % 2 == 0) leaves.estimate = std::make_shared<HashValue>(space);
      for (const std::int64_t budget : {1, 10, 30, 100, 1'000'000}) {
        const TreeApproximation found = tree_sample(graph, space, leaves, {.budget = budget}).approximation;
        const double bound = log_evaluated_mass(found, graph), expected = enumerated_mass(found, graph);
        ASSERT_LE(bound, log_z) << "variant " << variant << ", budget " << budget;
        if (expected == kNegInf) {
          ASSERT_EQ(bound, kNegInf);
          continue;
        }
        ASSERT_LE(bound, expected);
        ASSERT_NEAR(bound, expected, 1e-12 * (1.0 + std::abs(expected)) + 1e-12);
        if (found.is_exact()) {
          ASSERT_NEAR(bound, log_z, 1e-11);
        }
        num_partial += found.is_exact() ? 0 : 1;
      }
    }
  }
  EXPECT_GT(num_partial, 50);
}

// The store of such a tree keeps rewards only as differences of values, which lose everything to a Q_phi of 1e12.
TEST(EvaluatedMass, DoesNotDependOnTheSizeOfQPhi) {
  Random random(42);
  for (int variant = 0; variant < 20; ++variant) {
    const FactorGraph graph = random_model(random, {.num_variables = 6, .num_factors = 8});
    const SearchSpace space = space_of(graph, SpaceKind::kTree);
    const LeafValues leaves{.estimate = std::make_shared<HashValue>(space, 7, 1e9)};
    const TreeApproximation found = tree_sample(graph, space, leaves, {.budget = 60}).approximation;
    const double bound = log_evaluated_mass(found, graph), expected = enumerated_mass(found, graph);
    if (expected == kNegInf) continue;
    ASSERT_LE(bound, expected);
    ASSERT_NEAR(bound, expected, 1e-11);
  }
}

// Rewards of functions are those of the search: nothing is called again.
TEST(EvaluatedMass, CallsNoFunction) {
  int num_calls = 0;
  FactorGraph graph = testing::variables(6, 3);
  graph.add_table({0, 1}, {0.5, -1.0, kNegInf, 2.0, 0.1, 0.2, -3.0, 0.0, 1.0});
  graph.add_factor(Factor::function({0, 1, 2, 3, 4, 5}, [&num_calls](std::span<const int> x) {
    ++num_calls;
    return x[0] == 2 && x[5] == 1 ? kNegInf : 900.0 + 0.3 * x[1] * x[4] - x[2] - 0.5 * x[3] * x[5];
  }));
  const SearchSpace space = space_of(graph, SpaceKind::kTree);
  const TreeApproximation found = tree_sample(graph, space, {}, {.budget = 2000}).approximation;
  const double expected = enumerated_mass(found, graph);
  const int num_before = num_calls;
  const double bound = log_evaluated_mass(found, graph);
  EXPECT_EQ(num_calls, num_before);
  EXPECT_LE(bound, expected);
  EXPECT_NEAR(bound, expected, 1e-10);
}

// Two functions of one level may cancel each other to any extent, and only their sum is stored.
TEST(EvaluatedMass, LeavesOutWhatMayHaveCancelled) {
  FactorGraph graph = testing::variables(2, 2);
  graph.add_factor(Factor::function({0, 1}, [](std::span<const int> x) { return 1e7 + x[1]; }));
  graph.add_factor(Factor::function({1, 0}, [](std::span<const int> x) { return -1e7 + x[1]; }));
  const SearchSpace space = space_of(graph, SpaceKind::kTree);
  const TreeApproximation found = tree_sample(graph, space, {}, {}).approximation;
  EXPECT_EQ(log_evaluated_mass(found, graph), kNegInf);
}

TEST(EvaluatedMass, OfTablesThatCancelIsBelowTheTruth) {
  FactorGraph graph = testing::variables(2, 2);
  graph.add_table({0, 1}, {1e15, 1e15, 1e15, 1e15});
  graph.add_table({0, 1}, {-1e15 + 0.125, -1e15, -1e15 - 0.125, -1e15 + 0.25});
  const SearchSpace space = space_of(graph, SpaceKind::kTree);
  const TreeApproximation found = tree_sample(graph, space, {}, {}).approximation;
  const double truth = std::log(std::exp(0.125) + 1.0 + std::exp(-0.125) + std::exp(0.25));
  EXPECT_LE(log_evaluated_mass(found, graph), truth);
}

TEST(EvaluatedMass, IsReportedWhileTheSearchGoesOn) {
  Random random(43);
  const FactorGraph graph = random_model(random, {.num_variables = 9, .min_states = 3, .num_factors = 12});
  const double log_z = enumerate(graph).log_z;
  std::vector<double> reported;
  const Observer observer{.progress = [&](const Progress& now) { reported.push_back(now.log_z.lower); }};
  const SearchSpace space = space_of(graph, SpaceKind::kTree);
  tree_sample(graph, space, {}, {.budget = 5000}, {.observer_interval = 50, .reports_bounds = true}, observer);
  ASSERT_GT(reported.size(), 20U);
  EXPECT_TRUE(std::is_sorted(reported.begin(), reported.end()));
  EXPECT_GT(reported.back(), kNegInf);
  EXPECT_LE(reported.back(), log_z);
}

// At any moment: a search that is ended where a report was made has evaluated what the report says.
TEST(EvaluatedMass, OfEveryReportIsThatOfASearchThatEndsThere) {
  Random random(45);
  for (int trial = 0; trial < 12; ++trial) {
    const FactorGraph graph = random_model(random, {.num_variables = 7,
                                                    .min_states = 2,
                                                    .num_factors = 9,
                                                    .zero_probability = trial % 3 == 0 ? 0.2 : 0.0,
                                                    .function_probability = trial % 2 == 0 ? 0.3 : 0.0,
                                                    .scale = trial % 4 == 1 ? 50.0 : 1.0});
    const double log_z = enumerate(graph).log_z;
    const SearchSpace space = space_of(graph, SpaceKind::kTree);
    std::vector<std::pair<std::int64_t, double>> reported;
    const Observer observer{
        .progress = [&](const Progress& now) { reported.emplace_back(now.spent.reward_evaluations, now.log_z.lower); }};
    const TreeSearchOptions options{.observer_interval = 20, .reports_bounds = true};
    tree_sample(graph, space, {}, {.budget = 400}, options, observer);
    for (const auto& [budget, lower] : reported) {
      const double mass = log_evaluated_mass(tree_sample(graph, space, {}, {.budget = budget}).approximation, graph);
      EXPECT_LE(lower, log_z) << trial;
      if (mass == kNegInf) {  // nothing is complete yet, as far as the pass knows
        EXPECT_TRUE(trial % 2 == 0 || lower == kNegInf) << trial;
        continue;
      }
      // With several functions at a level the pass does not know their rewards any more, and counts less.
      const double tolerance = 1e-9 * (1.0 + std::abs(mass));
      EXPECT_GE(lower, mass - tolerance) << trial;
      EXPECT_TRUE(trial % 2 == 0 || lower <= mass + tolerance) << trial;
    }
  }
}

// Paths that are known before the search count from the first report on.
TEST(EvaluatedMass, CountsPathsThatWereKnownBefore) {
  Random random(46);
  const FactorGraph graph = random_model(random, {.num_variables = 6, .min_states = 3, .num_factors = 8});
  const SearchSpace space = space_of(graph, SpaceKind::kTree);
  const Telescoped made = telescope(graph, space, std::make_shared<const UniformValue>(space),
                                    Budget(400, BudgetUnit::kReward), {.count = 20}, 3);
  double first = kNegInf;
  const Observer observer{.progress = [&](const Progress& now) { first = std::max(first, now.log_z.lower); },
                          .should_stop = [&] { return first > kNegInf; }};
  TreeSearchOptions options{.observer_interval = 1, .reports_bounds = true, .known = made.known};
  const TreeSearchResult result =
      tree_sample(graph, space, {.estimate = made.value}, {.budget = 100}, options, observer);
  EXPECT_NEAR(first, log_evaluated_mass(result.approximation, graph), 1e-9);
  EXPECT_LE(first, enumerate(graph).log_z);
}

// The best configuration alone certified 3.6 nats less on FACTOR GRAPHS 2 with 10,000 evaluations.
TEST(EvaluatedMass, IsTheLowerBoundOfInfer) {
  Random random(44);
  const FactorGraph graph = random_model(random, {.num_variables = 9, .min_states = 3, .num_factors = 12});
  const double log_z = enumerate(graph).log_z;
  InferOptions options;
  options.space = SpaceKind::kTree;
  options.order = OrderKind::kGiven;
  options.simplify = false;
  const Answer answer = infer({graph}, {}, {.budget = 2000}, options);
  const SearchSpace space = space_of(graph, SpaceKind::kTree);
  const TreeApproximation same = tree_sample(graph, space, {}, {.budget = 2000}).approximation;
  ASSERT_FALSE(answer.is_exact);
  EXPECT_EQ(answer.lower, log_evaluated_mass(same, graph));
  EXPECT_GT(*answer.lower, answer.best->log_density + 0.5);
  EXPECT_LE(*answer.lower, log_z);
}

TEST(EvaluatedMass, IsTheConstantWithoutVariables) {
  FactorGraph graph;
  graph.add_table({}, {3.5});
  const SearchSpace space = space_of(graph, SpaceKind::kTree);
  EXPECT_NEAR(log_evaluated_mass(tree_sample(graph, space, {}, {}).approximation, graph), 3.5, 1e-12);
  graph.add_table({}, {kNegInf});
  const SearchSpace impossible = space_of(graph, SpaceKind::kTree);
  EXPECT_EQ(log_evaluated_mass(tree_sample(graph, impossible, {}, {}).approximation, graph), kNegInf);
}

}  // namespace
}  // namespace treesample
