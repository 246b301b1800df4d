#include "treesample/space/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/math/random.hpp"
#include "treesample/space/varied_order.hpp"

namespace treesample {
namespace {

using Edges = std::vector<std::set<int>>;

FactorGraph graph_with_scopes(int num_variables, const std::vector<std::vector<int>>& scopes) {
  FactorGraph graph = testing::variables(num_variables, 2);
  for (const std::vector<int>& scope : scopes) {
    graph.add_table(scope, std::vector<double>(std::size_t{1} << scope.size(), 0.0));
  }
  return graph;
}

Adjacency random_adjacency(int num_variables, double edge_probability, Random& random) {
  Adjacency adjacency(static_cast<std::size_t>(num_variables));
  for (int v = 0; v < num_variables; ++v) {
    for (int u = 0; u < v; ++u) {
      if (random.uniform() >= edge_probability) continue;
      adjacency[v].push_back(u);
      adjacency[u].push_back(v);
    }
  }
  for (auto& list : adjacency) std::sort(list.begin(), list.end());
  return adjacency;
}

Edges edges_of(const Adjacency& adjacency) {
  Edges edges;
  for (const auto& list : adjacency) edges.emplace_back(list.begin(), list.end());
  return edges;
}

// Removes v from the graph by definition: joins all its neighbours pairwise.
void remove_by_definition(Edges& edges, int v) {
  for (const int a : edges[v]) {
    edges[a].erase(v);
    for (const int b : edges[v]) {
      if (a != b) edges[a].insert(b);
    }
  }
  edges[v].clear();
}

int score_by_definition(const Edges& edges, int v, OrderKind kind) {
  if (kind == OrderKind::kMinWidth) return static_cast<int>(edges[v].size());
  int fill = 0;
  for (const int a : edges[v]) {
    for (const int b : edges[v]) fill += a < b && !edges[a].contains(b) ? 1 : 0;
  }
  return fill;
}

bool is_permutation_of_all(std::vector<int> order, int num_variables) {
  const std::vector<int> all = testing::integers(num_variables);
  std::sort(order.begin(), order.end());
  return order == all;
}

Adjacency path(int num_variables) {
  Adjacency adjacency(static_cast<std::size_t>(num_variables));
  for (int v = 0; v + 1 < num_variables; ++v) {
    adjacency[v].push_back(v + 1);
    adjacency[v + 1].insert(adjacency[v + 1].begin(), v);
  }
  return adjacency;
}

TEST(Adjacency, JoinsVariablesThatShareAFactorOnce) {
  const FactorGraph graph = graph_with_scopes(5, {{2, 0, 1}, {1, 2}, {3}, {}, {0, 2}});
  const Adjacency expected = {{1, 2}, {0, 2}, {0, 1}, {}, {}};
  EXPECT_EQ(adjacency_of(graph), expected);
}

TEST(DegreeOrder, TakesVariablesOfWidestFactorsFirst) {
  const FactorGraph graph = graph_with_scopes(7, {{6}, {4, 3}, {1, 4, 0}, {5, 0}, {}});
  EXPECT_EQ(degree_order(graph), (std::vector<int>{1, 4, 0, 3, 5, 6, 2}));
}

TEST(DegreeOrder, BreaksTiesByFactorIndex) {
  EXPECT_EQ(degree_order(graph_with_scopes(4, {{3, 1}, {0, 2}})), (std::vector<int>{3, 1, 0, 2}));
}

TEST(EliminationOrder, EveryChoiceHasTheLeastScore) {
  Random random(1, "graphs");
  for (int trial = 0; trial < 120; ++trial) {
    const int num_variables = 1 + static_cast<int>(random.below(25));
    const Adjacency adjacency = random_adjacency(num_variables, random.uniform() * 0.6, random);
    for (const OrderKind kind : {OrderKind::kMinFill, OrderKind::kMinWidth}) {
      const std::vector<int> order = elimination_order(adjacency, kind, random);
      ASSERT_TRUE(is_permutation_of_all(order, num_variables));
      Edges edges = edges_of(adjacency);
      for (std::size_t t = 0; t < order.size(); ++t) {
        int least = num_variables * num_variables;
        for (std::size_t s = t; s < order.size(); ++s) {
          least = std::min(least, score_by_definition(edges, order[s], kind));
        }
        ASSERT_EQ(score_by_definition(edges, order[t], kind), least) << "trial " << trial << ", step " << t;
        remove_by_definition(edges, order[t]);
      }
    }
  }
}

TEST(EliminationOrder, SameStreamSameOrderAndOtherStreamOtherTies) {
  Random random(2, "graph");
  const Adjacency adjacency = random_adjacency(40, 0.1, random);
  Random first(7);
  Random again(7);
  Random other(8);
  const std::vector<int> order = elimination_order(adjacency, OrderKind::kMinFill, first);
  EXPECT_EQ(order, elimination_order(adjacency, OrderKind::kMinFill, again));
  EXPECT_NE(order, elimination_order(adjacency, OrderKind::kMinFill, other));
}

TEST(EliminationOrder, FindsWidthOneOfAPath) {
  Random random(3);
  const Adjacency adjacency = path(50);
  for (const OrderKind kind : {OrderKind::kMinFill, OrderKind::kMinWidth}) {
    for (const auto& separator : separators(adjacency, elimination_order(adjacency, kind, random))) {
      EXPECT_LE(separator.size(), 1U);
    }
  }
}

TEST(EliminationOrder, EmptyGraphHasEmptyOrder) {
  Random random(4);
  EXPECT_TRUE(elimination_order({}, OrderKind::kMinFill, random).empty());
  EXPECT_TRUE(separators({}, {}).empty());
}

TEST(EliminationOrder, RefusesKindsThatAreNotGreedy) {
  Random random(5);
  EXPECT_THROW(elimination_order(path(3), OrderKind::kGiven, random), Error);
  EXPECT_THROW(elimination_order(path(3), OrderKind::kDegree, random), Error);
}

TEST(Separators, EqualNeighboursAtRemoval) {
  Random random(6, "graphs");
  for (int trial = 0; trial < 100; ++trial) {
    const int num_variables = 1 + static_cast<int>(random.below(20));
    const Adjacency adjacency = random_adjacency(num_variables, random.uniform() * 0.5, random);
    const std::vector<int> order = random.permutation(num_variables);
    const auto result = separators(adjacency, order);
    std::vector<int> time(order.size());
    for (std::size_t t = 0; t < order.size(); ++t) time[order[t]] = static_cast<int>(t);
    Edges edges = edges_of(adjacency);
    for (const int v : order) {
      std::vector<int> expected(edges[v].begin(), edges[v].end());
      std::sort(expected.begin(), expected.end(), [&](int a, int b) { return time[a] < time[b]; });
      ASSERT_EQ(result[v], expected) << "trial " << trial << ", variable " << v;
      remove_by_definition(edges, v);
    }
  }
}

TEST(VariedOrder, FirstIsPlainAndSomeWeighVariablesByTheirStates) {
  FactorGraph graph = testing::variables({2, 4, 16});
  EXPECT_EQ(varied_order(0, graph).noise, 0.0);
  EXPECT_TRUE(varied_order(0, graph).weights.empty());
  EXPECT_GT(varied_order(3, graph).noise, 0.0);
  EXPECT_EQ(varied_order(3, graph).weights, (std::vector<int>{8, 16, 32}));
  EXPECT_GT(varied_order(4, graph).noise, varied_order(3, graph).noise);
  EXPECT_EQ(varied_order(9, graph).weights, varied_order(3, graph).weights);
}

TEST(Separators, RefusesWhatIsNotAPermutation) {
  EXPECT_THROW(separators(path(3), std::vector<int>{0, 1}), Error);
  EXPECT_THROW(separators(path(3), std::vector<int>{0, 1, 1}), Error);
  EXPECT_THROW(separators(path(3), std::vector<int>{0, 1, 3}), Error);
}

}  // namespace
}  // namespace treesample
