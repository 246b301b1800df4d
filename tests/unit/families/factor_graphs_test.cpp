#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "families/random_graph.hpp"
#include "support/expect_error.hpp"
#include "treesample/error.hpp"
#include "treesample/families/factor_graphs_1.hpp"
#include "treesample/families/factor_graphs_2.hpp"
#include "treesample/math/random.hpp"
#include "unit/families/log_z.hpp"

namespace treesample {
namespace {

bool is_clique(const NodeSets& neighbours, unsigned set) {
  for (int i = 0; i < static_cast<int>(neighbours.size()); ++i) {
    for (int j = 0; j < i; ++j) {
      if ((set >> i & 1) == 0 || (set >> j & 1) == 0) continue;
      if (!std::binary_search(neighbours[i].begin(), neighbours[i].end(), j)) return false;
    }
  }
  return true;
}

// All cliques by trying every set of nodes.
std::set<std::vector<int>> cliques_by_enumeration(const NodeSets& neighbours, bool every_clique) {
  const int n = static_cast<int>(neighbours.size());
  std::set<std::vector<int>> cliques;
  for (unsigned set = 1; set < 1U << n; ++set) {
    if (!is_clique(neighbours, set)) continue;
    bool is_maximal = true;
    std::vector<int> nodes;
    for (int i = 0; i < n; ++i) {
      if (set >> i & 1) nodes.push_back(i);
      if ((set >> i & 1) == 0 && is_clique(neighbours, set | 1U << i)) is_maximal = false;
    }
    if (every_clique ? nodes.size() >= 2 : is_maximal) cliques.insert(nodes);
  }
  return cliques;
}

TEST(RandomGraph, FindsTheCliquesOfEveryGraph) {
  Random random(5);
  for (int trial = 0; trial < 60; ++trial) {
    const NodeSets neighbours = draw_erdos_renyi(1 + trial % 8, 0.1 * (trial % 11), random);
    for (const bool every_clique : {false, true}) {
      const std::set<std::vector<int>> expected = cliques_by_enumeration(neighbours, every_clique);
      const std::optional<NodeSets> found = find_cliques(neighbours, 8, every_clique);
      ASSERT_TRUE(found.has_value());
      EXPECT_EQ(*found, NodeSets(expected.begin(), expected.end()));  // order and no repetition, too
    }
  }
}

TEST(RandomGraph, RefusesLargeCliques) {
  Random random(5);
  const NodeSets complete = draw_erdos_renyi(5, 1.0, random);
  EXPECT_FALSE(find_cliques(complete, 4, false).has_value());
  EXPECT_TRUE(find_cliques(complete, 5, false).has_value());
}

TEST(RandomGraph, KnowsConnectedGraphs) {
  EXPECT_TRUE(is_connected({{}}));
  EXPECT_FALSE(is_connected({{}, {}}));
  EXPECT_TRUE(is_connected({{2}, {2}, {0, 1}}));
  EXPECT_FALSE(is_connected({{1}, {0}, {3}, {2}}));
}

// 4,950 pairs, 40 graphs: the standard error of the share of edges is 0.001.
TEST(RandomGraph, EdgesHaveTheGivenProbability) {
  Random random(6);
  double num_ends = 0.0;
  for (int trial = 0; trial < 40; ++trial) {
    for (const auto& near : draw_erdos_renyi(100, 0.3, random)) num_ends += static_cast<double>(near.size());
  }
  EXPECT_NEAR(num_ends / 2 / 4950 / 40, 0.3, 0.004);
}

TEST(RandomGraph, SaysWhyNoGraphWasAccepted) {
  const auto message_for = [](const FactorGraphs1Options& options) {
    return testing::message_of(ErrorCode::kArgument, [&] { make_factor_graphs_1(options, 0); });
  };
  EXPECT_EQ(
      message_for({.n = 50, .edge_probability = 0.7, .max_attempts = 20}),
      "make_factor_graphs_1: 20 random graphs of 50 nodes with edge_probability = 0.7 were "
      "rejected: 0 not connected, 20 with a clique above max_clique = 4; lower edge_probability or raise max_clique");
  EXPECT_EQ(message_for({.n = 50, .edge_probability = 0.0, .max_attempts = 20}),
            "make_factor_graphs_1: 20 random graphs of 50 nodes with edge_probability = 0 were "
            "rejected: 20 not connected, 0 with a clique above max_clique = 4; raise edge_probability");
}

NodeSets neighbours_of(const FactorGraph& graph) {
  std::vector<std::set<int>> sets(graph.num_variables());
  for (const Factor& factor : graph.factors()) {
    for (const int u : factor.scope()) sets[u].insert(factor.scope().begin(), factor.scope().end());
  }
  NodeSets neighbours;
  for (int v = 0; v < graph.num_variables(); ++v) {
    sets[v].erase(v);
    neighbours.emplace_back(sets[v].begin(), sets[v].end());
  }
  return neighbours;
}

TEST(FactorGraphs1, HasATablePerMaximalCliqueOfAConnectedGraph) {
  for (std::uint64_t i = 0; i < 50; ++i) {
    const FactorGraph graph = make_factor_graphs_1({.k = 2}, 1, i).graph;
    const NodeSets neighbours = neighbours_of(graph);
    EXPECT_TRUE(is_connected(neighbours));
    const std::set<std::vector<int>> cliques = cliques_by_enumeration(neighbours, false);
    ASSERT_EQ(graph.num_factors(), static_cast<int>(cliques.size()));
    int m = 0;
    for (const std::vector<int>& clique : cliques) {
      EXPECT_LE(clique.size(), 4U);
      EXPECT_EQ(graph.factor(m++).scope(), clique);
    }
  }
}

TEST(FactorGraphs1, EveryCliqueIsAnOption) {
  const FactorGraph maximal = make_factor_graphs_1({.k = 2}, 1).graph;
  const FactorGraph every = make_factor_graphs_1({.k = 2, .every_clique = true}, 1).graph;
  EXPECT_EQ(neighbours_of(maximal), neighbours_of(every));
  EXPECT_EQ(every.num_factors(), static_cast<int>(cliques_by_enumeration(neighbours_of(every), true).size()));
  EXPECT_GT(every.num_factors(), maximal.num_factors());
}

// About 100,000 entries: standard errors 0.003 of the mean and 0.0045 of the variance, times 1 and 4.
TEST(FactorGraphs1, EntriesAreNormal) {
  double count = 0.0;
  double sum = 0.0;
  double sum_of_squares = 0.0;
  for (std::uint64_t i = 0; i < 50; ++i) {
    const FactorGraph graph = make_factor_graphs_1({.entry_mean = 1.0, .entry_stddev = 2.0}, 2, i).graph;
    for (const Factor& factor : graph.factors()) {
      for (const double value : factor.log_values()) {
        count += 1.0;
        sum += value;
        sum_of_squares += (value - 1.0) * (value - 1.0);
      }
    }
  }
  ASSERT_GT(count, 50'000);
  EXPECT_NEAR(sum / count, 1.0, 0.04);
  EXPECT_NEAR(sum_of_squares / count, 4.0, 0.11);
}

TEST(FactorGraphs1, LargerModelsFollowTheSameRecipe) {
  const FactorGraph graph = make_factor_graphs_1({.n = 400, .k = 2}, 0).graph;
  EXPECT_TRUE(is_connected(neighbours_of(graph)));
  // p = 2 log(400)/400 gives 2,391 edges on average, with a standard deviation of 48.
  double num_ends = 0.0;
  for (const auto& near : neighbours_of(graph)) num_ends += static_cast<double>(near.size());
  EXPECT_NEAR(num_ends / 2, 2391, 5 * 48);
}

TEST(FactorGraphs1, OneVariableHasAUnaryTable) {
  const FactorGraph graph = make_factor_graphs_1({.n = 1}, 0).graph;
  ASSERT_EQ(graph.num_factors(), 1);
  EXPECT_EQ(graph.factor(0).scope(), (std::vector<int>{0}));
}

TEST(FactorGraphs1, RefusesTablesBeyondMemory) {
  testing::expect_error(ErrorCode::kResource, [] { make_factor_graphs_1({.n = 30, .k = 1000}, 0); });
}

TEST(FactorGraphs2, HasANotPerPairAndAMajorityPerClique) {
  for (std::uint64_t i = 0; i < 50; ++i) {
    const FamilyInstance model = make_factor_graphs_2({}, 1, i);
    NodeSets cliques;
    for (int m = 0; m < model.graph.num_factors(); ++m) {
      std::vector<int> scope = model.graph.factor(m).scope();
      EXPECT_EQ(model.factor_kinds[m], m < 10 ? "not" : "majority");
      if (m < 10) {
        EXPECT_EQ(scope, (std::vector<int>{2 * m, 2 * m + 1}));
        EXPECT_EQ(model.graph.factor(m).log_values(), (std::vector<double>{0, 2, 2, 0}));
        continue;
      }
      for (int& v : scope) v /= 2;
      cliques.push_back(scope);
    }
    NodeSets neighbours(10);
    for (int a = 0; a < 10; ++a) {
      for (int b = 0; b < 10; ++b) {
        const bool are_joined = std::any_of(cliques.begin(), cliques.end(), [&](const std::vector<int>& clique) {
          return std::count(clique.begin(), clique.end(), a) > 0 && std::count(clique.begin(), clique.end(), b) > 0;
        });
        if (a != b && are_joined) neighbours[a].push_back(b);
      }
    }
    EXPECT_TRUE(is_connected(neighbours));
    const std::set<std::vector<int>> expected = cliques_by_enumeration(neighbours, false);
    EXPECT_EQ(cliques, NodeSets(expected.begin(), expected.end()));
    EXPECT_LE(std::max_element(cliques.begin(), cliques.end(),
                               [](const auto& a, const auto& b) { return a.size() < b.size(); })
                  ->size(),
              4U);
  }
}

TEST(FactorGraphs2, MajorityIsHalfOrMoreOrMoreThanHalf) {
  // Two pairs joined for certain: one MAJORITY of two variables.
  const auto majority = [](int n, bool is_strict) {
    return make_factor_graphs_2({.n = n, .edge_probability = 1.0, .strict_majority = is_strict, .scale = 1.0}, 0)
        .graph.factors()
        .back()
        .log_values();
  };
  EXPECT_EQ(majority(4, false), (std::vector<double>{0, 1, 1, 1}));
  EXPECT_EQ(majority(4, true), (std::vector<double>{0, 0, 0, 1}));
  EXPECT_EQ(majority(6, false), (std::vector<double>{0, 0, 0, 1, 0, 1, 1, 1}));
  EXPECT_EQ(majority(6, true), majority(6, false));
  EXPECT_EQ(majority(2, false), (std::vector<double>{0, 1}));
}

// About 50 * 22 fair coins: standard error 0.015.
TEST(FactorGraphs2, MajorityTakesEitherVariableOfAPair) {
  double num_members = 0.0;
  double num_second = 0.0;
  for (std::uint64_t i = 0; i < 50; ++i) {
    const FactorGraph graph = make_factor_graphs_2({}, 2, i).graph;
    for (int m = 10; m < graph.num_factors(); ++m) {
      for (const int v : graph.factor(m).scope()) num_second += v % 2;
      num_members += static_cast<double>(graph.factor(m).scope().size());
    }
  }
  EXPECT_NEAR(num_second / num_members, 0.5, 0.06);
}

TEST(FactorGraphs2, BothReadingsShareTheGraph) {
  const FactorGraph letter = make_factor_graphs_2(factor_graphs_2_options(Reading::kLetter), 5).graph;
  const FactorGraph best = make_factor_graphs_2(factor_graphs_2_options(Reading::kBest), 5).graph;
  ASSERT_EQ(letter.num_factors(), best.num_factors());
  for (int m = 0; m < best.num_factors(); ++m) EXPECT_EQ(letter.factor(m).scope(), best.factor(m).scope());
}

TEST(FactorGraphs2, RefusesOddN) { EXPECT_THROW(make_factor_graphs_2({.n = 7}, 0), Error); }

}  // namespace
}  // namespace treesample
