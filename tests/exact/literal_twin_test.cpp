// The tree search against the literal transcription of Algorithm 2 (examples/literal_tree_sample.hpp), node by node.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "examples/literal_tree_sample.hpp"
#include "support/expect_same_tree.hpp"
#include "support/search_models.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/tree/tree_sample.hpp"

namespace treesample {
namespace {

using testing::expect_same_tree;
using testing::HashValue;
using testing::model_options;
using testing::random_model;
using testing::RandomModelOptions;

TEST(LiteralTwin, GrowTheSameTree) {
  Random random(4);
  for (int variant = 0; variant < 100; ++variant) {
    RandomModelOptions options = model_options(variant);
    options.num_variables = 3 + variant % 6;
    const FactorGraph graph = random_model(random, options);
    std::vector<int> order = random.permutation(graph.num_variables());
    for (const std::int64_t budget : {1, 10, 300}) {
      SCOPED_TRACE(fmt::format("variant {} budget {}", variant, budget));
      expect_same_tree(graph, order, budget, {.c = 0.3 + 0.2 * (variant % 5)});
    }
  }
}

// Algorithm 1: drawing from the twin has the probabilities of the tree search, on the tree and off it.
TEST(LiteralTwin, SampleWithTheSameProbabilities) {
  Random random(8);
  for (int variant = 0; variant < 20; ++variant) {
    RandomModelOptions options = model_options(variant);
    options.num_variables = 4;
    const FactorGraph graph = random_model(random, options);
    const std::vector<int> order = random.permutation(graph.num_variables());
    const SearchSpace space = make_search_space(graph, order, SpaceKind::kTree);
    for (const std::int64_t budget : {1, 7, 40}) {
      literal::TreeSample<> twin(graph, order, {});
      twin.tree_sample(budget);
      if (twin.log_z() == kNegInf) continue;
      const TreeSearchResult result = tree_sample(graph, space, {}, {.budget = budget}, {});
      for (int i = 0; i < 20; ++i) {
        double log_prob = 0.0;
        const Assignment x = twin.sample([&](const std::vector<double>& p) {
          const int a = random.categorical(p);
          log_prob += std::log(p[a]);
          return a;
        });
        ASSERT_NEAR(log_prob, result.approximation.log_prob(x), 1e-9) << variant << " " << budget;
      }
    }
  }
}

// Equal sub-problems everywhere: the tolerance for ties keeps rounding from deciding.
TEST(LiteralTwin, GrowTheSameTreeWithTies) {
  FactorGraph graph = testing::variables(12, 2);
  for (int v = 0; v + 1 < 12; v += 2) graph.add_table({v, v + 1}, {0.0, 2.0, 2.0, 0.0});
  for (int v = 0; v + 4 < 12; ++v) graph.add_table({v, v + 4}, {2.0, 0.0, 0.0, 2.0});
  const std::vector<int> order = testing::integers(12);
  for (const double c : {0.1, 1.0, 3.0}) expect_same_tree(graph, order, 2000, {.c = c});
}

// The twin with values that are not uniform, and with ties that the caller breaks.
TEST(LiteralTwin, GrowTheSameTreeWithAnyQPhi) {
  Random random(16);
  for (int variant = 0; variant < 60; ++variant) {
    RandomModelOptions options = model_options(variant);
    options.num_variables = 3 + variant % 5;
    options.function_probability = 0.0;
    const FactorGraph graph = random_model(random, options);
    const std::vector<int> order = random.permutation(graph.num_variables());
    const SearchSpace space = make_search_space(graph, order, SpaceKind::kTree);
    const auto q_phi = std::make_shared<HashValue>(space, variant);
    literal::TreeSample<>::Options twin_options{.c = 0.3 + 0.2 * (variant % 5)};
    twin_options.q_phi = [&](const std::vector<int>& prefix) {
      Assignment x(order.size(), -1);
      for (std::size_t i = 0; i < prefix.size(); ++i) x[order[i]] = prefix[i];
      std::vector<double> q(graph.num_states(order[prefix.size()]));
      q_phi->q_values(static_cast<int>(prefix.size()), x, 1, q);
      return q;
    };
    SCOPED_TRACE(variant);
    for (const std::int64_t budget : {1, 10, 200}) testing::expect_same_tree(graph, order, budget, twin_options, q_phi);
  }
}

// All values are equal, so that everything ties: each evaluation of the tree search must be among the ties of the twin.
TEST(LiteralTwin, RandomTiesAreTiesOfBoth) {
  constexpr int kVariables = 4;
  std::vector<std::vector<int>> evaluated;
  FactorGraph graph;
  std::vector<int> order, scope;
  for (int v = 0; v < kVariables; ++v) {
    order.push_back(graph.add_variable(3));
    scope.push_back(v);
    graph.add_factor(Factor::function(scope, [&evaluated](std::span<const int> states) {
      evaluated.emplace_back(states.begin(), states.end());
      return 0.25 * static_cast<double>(states.size() % 2);
    }));
  }
  const SearchSpace space = make_search_space(graph, order, SpaceKind::kTree);
  std::vector<std::vector<int>> first_runs;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    evaluated.clear();
    tree_sample(graph, space, {}, {.budget = 80}, {.ties = TieRule::kRandom, .seed = seed});
    const std::vector<std::vector<int>> chosen = evaluated;
    ASSERT_EQ(chosen.size(), 80U);
    std::size_t next = 0;
    int num_ties = 0;
    literal::TreeSample<>::Options options;
    options.break_tie = [&](const std::vector<int>& x, const std::vector<int>& best) {
      const std::vector<int>& target = chosen[std::min(next, chosen.size() - 1)];
      const int action = target[x.size()];
      EXPECT_TRUE(std::find(best.begin(), best.end(), action) != best.end()) << "evaluation " << next;
      num_ties += best.size() > 1 ? 1 : 0;
      if (x.size() + 1 == target.size()) ++next;
      return action;
    };
    literal::TreeSample<> twin(graph, order, options);
    twin.tree_sample(80);
    EXPECT_EQ(next, chosen.size());
    EXPECT_GT(num_ties, 40);
    first_runs.push_back(chosen[1]);
  }
  EXPECT_GT(std::set(first_runs.begin(), first_runs.end()).size(), 1U);
}

}  // namespace
}  // namespace treesample
