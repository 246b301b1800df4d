// Trees that are compiled into value functions and rebuilt, against exact values and enumeration.
#include "treesample/tree/rebuilt_search.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/configurations.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/divergence.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/families/family.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/tree/compiled_value.hpp"
#include "treesample/value/function_value.hpp"

namespace treesample {
namespace {

SearchSpace tree_of(const FactorGraph& graph) {
  const std::vector<int> order = testing::integers(graph.num_variables());
  return make_search_space(graph, order, SpaceKind::kTree);
}

double kl_to(const FactorGraph& graph, const Approximation& approximation) {
  double total = 0.0;
  testing::for_each_configuration(graph, [&](const Assignment& x) { total += std::exp(approximation.log_prob(x)); });
  EXPECT_NEAR(total, 1.0, 1e-9);
  return enumerated_divergence(graph, approximation).kl(enumerate(graph).log_z);
}

FactorGraph chain(std::uint64_t seed, int n, int k) {
  return make_family("chain", {.seed = seed, .values = {{"n", n}, {"k", k}}}).graph;
}

// Q_n of a chain depends on one variable: the linear form can represent the exact values.
TEST(CompiledValue, OfASolvedChainIsNearlyExact) {
  const FactorGraph graph = chain(1, 5, 3);
  const SearchSpace space = tree_of(graph);
  const TreeSearchResult solved = tree_sample(graph, space, {}, {});
  ASSERT_EQ(solved.report.stop, StopReason::kExact);
  const auto value = compile_tree(solved.approximation, graph, space, 20'000, 1);
  EXPECT_TRUE(value->fits(space));
  const TreeSearchResult first = tree_sample(graph, space, {.estimate = value}, {.budget = 3});
  EXPECT_NEAR(first.report.estimate, solved.report.estimate, 0.02);
  EXPECT_LT(kl_to(graph, first.approximation), 0.01);
  const TreeSearchResult plain = tree_sample(graph, space, {}, {.budget = 3});
  EXPECT_GT(kl_to(graph, plain.approximation), 0.3) << "the test can tell";
}

TEST(CompiledValue, ActionsThatAreNeverPossibleAreBelowAllOthers) {
  FactorGraph graph = testing::variables(3, 3);
  graph.add_table({0, 1}, {0.5, 0.0, kNegInf, 1.0, 2.0, kNegInf, 0.0, -1.0, kNegInf});
  graph.add_table({1, 2}, {0.5, 0.0, 0.3, 1.0, 2.0, 0.1, 0.0, -1.0, 0.2});
  const SearchSpace space = tree_of(graph);
  const auto value = compile_tree(tree_sample(graph, space, {}, {}).approximation, graph, space, 500, 1);
  std::vector<double> q(3);
  value->q_values(1, std::vector<int>{1, -1, -1}, 1, q);
  for (const double here : q) EXPECT_TRUE(std::isfinite(here));
  EXPECT_LT(q[2], std::min(q[0], q[1]) - 3.0);
}

TEST(RebuiltSearch, IsTheTreeSearchWhileThereIsMemory) {
  const FactorGraph graph = chain(2, 6, 3);
  const SearchSpace space = tree_of(graph);
  const TreeSearchResult plain = tree_sample(graph, space, {}, {.budget = 300});
  const RebuiltSearchResult same = rebuilt_search(graph, space, {}, {.budget = 300});
  EXPECT_TRUE(same.trees.empty());
  EXPECT_EQ(same.report.estimate, plain.report.estimate);
  EXPECT_EQ(same.report.spent.reward_evaluations, plain.report.spent.reward_evaluations);
}

// Within the limits, reproducible, and the tree is never worse than the first one, up to the noise of the judgement.
TEST(RebuiltSearch, IsNotWorseThanTheFirstTree) {
  int num_better = 0;
  constexpr int kModels = 6;
  for (int i = 0; i < kModels; ++i) {
    Random random(static_cast<std::uint64_t>(i), "models");
    const FactorGraph graph =
        i < 3 ? chain(static_cast<std::uint64_t>(i), 8, 4)
              : testing::random_model(random, {.num_variables = 11, .min_states = 2, .num_factors = 16, .scale = 2.0});
    const SearchSpace space = tree_of(graph);
    Limits limits{.budget = 100'000};
    limits.bytes = 150'000;
    const TreeSearchResult first = tree_sample(graph, space, {}, limits);
    if (first.report.stop != StopReason::kMemory) continue;
    const RebuiltSearchResult result = rebuilt_search(graph, space, {}, limits);
    ASSERT_GE(result.trees.size(), 2U);
    EXPECT_LE(result.report.spent.reward_evaluations, limits.budget);
    EXPECT_EQ(result.approximation.log_z(), rebuilt_search(graph, space, {}, limits).approximation.log_z());
    for (const RebuiltTree& tree : result.trees) EXPECT_LE(tree.elbo, result.trees[result.best].elbo);
    const double before = kl_to(graph, first.approximation);
    const double after = kl_to(graph, result.approximation);
    EXPECT_LE(after, before + 4.0 * (result.trees[0].error + result.trees[result.best].error) + 1e-9) << i;
    num_better += after < before ? 1 : 0;
  }
  EXPECT_GE(num_better, 3);
}

// The samples that judge a tree are paid from the budget too: of the first tree, of a later one that takes all that is
// left, and of none where they are not paid for.
TEST(RebuiltSearch, JudgesWithinTheBudget) {
  const FactorGraph graph = chain(4, 8, 4);
  const SearchSpace space = tree_of(graph);
  Limits limits;
  limits.bytes = 150'000;
  const TreeSearchResult first = tree_sample(graph, space, {}, limits);
  ASSERT_EQ(first.report.stop, StopReason::kMemory);
  const std::int64_t one_tree = first.report.spent.reward_evaluations;
  for (const std::int64_t more : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1599}, std::int64_t{1600},
                                  2 * one_tree + 4800, 3 * one_tree, 3 * one_tree + 4800, 6 * one_tree}) {
    limits.budget = one_tree + more;
    const RebuiltSearchResult result = rebuilt_search(graph, space, {}, limits);
    EXPECT_LE(result.report.spent.reward_evaluations, limits.budget) << more;
    EXPECT_EQ(result.trees.empty(), more < 1600) << "200 samples of 8 variables";
  }
}

TEST(RebuiltSearch, EndsWhereNothingSeemsPossible) {
  const FactorGraph graph = chain(1, 6, 3);
  const SearchSpace space = tree_of(graph);
  const auto nothing = [](int, std::span<const int>, int, std::span<double> q) {
    std::fill(q.begin(), q.end(), kNegInf);
  };
  const LeafValues leaves{.estimate = std::make_shared<FunctionValue>(nothing, space)};
  const RebuiltSearchResult result = rebuilt_search(graph, space, leaves, {.bytes = 1});
  EXPECT_EQ(result.report.stop, StopReason::kMemory);
  EXPECT_EQ(result.approximation.log_z(), kNegInf);
}

TEST(RebuiltSearch, StopsWhereItMust) {
  const FactorGraph graph = chain(4, 8, 4);
  const SearchSpace space = tree_of(graph);
  Limits limits{.budget = 1'000'000};
  limits.bytes = 150'000;
  const Observer observer{.should_stop = [] { return true; }};
  const RebuiltSearchResult stopped = rebuilt_search(graph, space, {}, limits, {}, observer);
  EXPECT_EQ(stopped.report.stop, StopReason::kInterrupted);
  EXPECT_TRUE(stopped.trees.empty());
  // A call of a function may cost more than memory, so nothing is rebuilt.
  FactorGraph with_function = graph;
  with_function.add_factor(Factor::function({0}, [](std::span<const int> states) { return 0.1 * states[0]; }));
  const RebuiltSearchResult full = rebuilt_search(with_function, tree_of(with_function), {}, limits);
  EXPECT_EQ(full.report.stop, StopReason::kMemory);
  EXPECT_TRUE(full.trees.empty());
  RebuiltSearchOptions wrong{.num_judged = 1};
  EXPECT_THROW(rebuilt_search(graph, space, {}, limits, wrong), Error);
  EXPECT_THROW(compile_tree(full.approximation, graph, space, 0, 1), Error);
}

}  // namespace
}  // namespace treesample
