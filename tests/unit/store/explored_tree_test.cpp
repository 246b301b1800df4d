#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "support/random_models.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/families/family.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/q_uct_search.hpp"
#include "treesample/search/search_approximation.hpp"

namespace treesample {
namespace {

FactorGraph chain(int n, int k) {
  FamilyOptions options;
  options.values = {{"n", static_cast<double>(n)}, {"k", static_cast<double>(k)}};
  return make_family("chain", options).graph;
}

// Of the tree search with room for all: every node once, the probability of a path is that of the approximation.
TEST(ExploredTree, MassesAreThoseOfPaths) {
  const FactorGraph graph = chain(5, 3);
  const SearchSpace space =
      make_search_space(graph, search_order(graph, SpaceKind::kTree, {.kind = OrderKind::kGiven}), SpaceKind::kTree);
  const QUctResult result = q_uct_search(graph, space, {}, {.budget = 100'000});
  ASSERT_TRUE(result.approximation->is_exact());
  const ExploredTree tree = result.approximation->explored_tree(100'000);
  EXPECT_EQ(tree.nodes.size(), tree.num_nodes_searched);
  ASSERT_EQ(tree.roots.size(), 1U);
  Assignment x(5, -1);
  int num_complete = 0;
  const std::function<void(int)> visit = [&](int n) {
    const ExploredTree::Node& node = tree.nodes[n];
    double sum = 0.0;
    std::vector<double> q;
    for (const ExploredTree::Edge& edge : node.edges) {
      sum += edge.probability;
      q.push_back(edge.q);
      EXPECT_EQ(edge.num_children_left_out, 0);
      x[node.variable] = edge.state;
      if (edge.children.empty()) {
        ++num_complete;
        EXPECT_NEAR(node.mass * edge.probability, std::exp(result.approximation->log_prob(x)), 1e-12);
      }
      for (const int child : edge.children) {
        EXPECT_DOUBLE_EQ(tree.nodes[child].mass, node.mass * edge.probability);
        visit(child);
      }
    }
    EXPECT_NEAR(sum, 1.0, 1e-12);
    if (n == tree.roots[0]) {
      EXPECT_NEAR(log_sum_exp(q), result.report.estimate, 1e-9);
    }
  };
  visit(tree.roots[0]);
  EXPECT_EQ(num_complete, 243);
}

TEST(ExploredTree, TheLargestMassesAreKept) {
  const FactorGraph graph = chain(8, 3);
  const SearchSpace space =
      make_search_space(graph, search_order(graph, SpaceKind::kTree, {.kind = OrderKind::kGiven}), SpaceKind::kTree);
  const QUctResult result = q_uct_search(graph, space, {}, {.budget = 5000});
  const ExploredTree all = result.approximation->explored_tree(1'000'000),
                     some = result.approximation->explored_tree(40);
  ASSERT_EQ(some.nodes.size(), 40U);
  EXPECT_EQ(some.num_nodes_searched, all.nodes.size());
  int num_left_out = 0;
  for (std::size_t i = 0; i < some.nodes.size(); ++i) {
    EXPECT_EQ(some.nodes[i].mass, all.nodes[i].mass);
    if (i > 0) {
      EXPECT_LE(some.nodes[i].mass, some.nodes[i - 1].mass);
    }
    for (const ExploredTree::Edge& edge : some.nodes[i].edges) num_left_out += edge.num_children_left_out;
  }
  EXPECT_GT(num_left_out, 0);
}

// Bounds of an edge hold for the exact value of its sub-problem: at a root, the sum over all that has the state.
TEST(ExploredTree, BoundsHoldAtTheRoots) {
  FamilyOptions options;
  options.values = {{"n", 5.0}};
  const FactorGraph graph = make_family("ising", options).graph;
  InferOptions how{.method = Method::kSearch, .select = SelectRule::kGap, .leaf = LeafChoice{LeafKind::kMiniBucket, 2}};
  const Answer answer = infer(graph, {}, {.budget = 60}, how);
  ASSERT_TRUE(answer.approximation);
  const ExploredTree tree = answer.approximation->explored_tree(1000);
  ASSERT_EQ(tree.roots.size(), 1U);
  const ExploredTree::Node& root = tree.nodes[tree.roots[0]];
  std::int64_t num_visits = 0;
  for (const ExploredTree::Edge& edge : root.edges) {
    const double exact = Elimination(condition(graph, {{root.variable, edge.state}}).graph).log_z();
    EXPECT_LE(edge.bounds.lower, exact + 1e-9);
    EXPECT_GE(edge.bounds.upper, exact - 1e-9);
    EXPECT_LT(edge.bounds.upper - edge.bounds.lower, 50.0);
    num_visits += edge.visits;
  }
  EXPECT_GT(num_visits, 0);
  EXPECT_GT(tree.num_nodes_searched, 1U);
  EXPECT_GE(tree.nodes.size(), tree.num_nodes_searched);  // what is shared is there several times
}

// Evidence takes variables and states away; what is shown has the numbers of the model that was asked about.
TEST(ExploredTree, IsInTermsOfTheOriginalModel) {
  const FactorGraph graph = chain(6, 4);
  const InferOptions how{
      .method = Method::kSearch, .select = SelectRule::kQUct, .space = SpaceKind::kTree, .order = OrderKind::kGiven};
  const Answer answer = infer(Model(graph, {{0, 2}}), {}, {.budget = 2000}, how);
  ASSERT_TRUE(answer.approximation);
  const ExploredTree tree = answer.approximation->explored_tree(50);
  ASSERT_FALSE(tree.nodes.empty());
  std::map<int, double> first;
  for (const ExploredTree::Edge& edge : tree.nodes[tree.roots[0]].edges) first[edge.state] = edge.probability;
  EXPECT_EQ(tree.nodes[tree.roots[0]].variable, 1);
  ASSERT_EQ(answer.marginals.size(), 6U);
  for (const auto& [state, probability] : first) EXPECT_NEAR(probability, answer.marginals[1][state], 1e-9);
}

TEST(ExploredTree, OtherAnswersHaveNone) {
  const Answer answer = infer(chain(4, 3), {.samples = 1});
  ASSERT_TRUE(answer.approximation);
  EXPECT_TRUE(answer.approximation->explored_tree(10).nodes.empty());
}

// An edge to a part that is not bounded and one that is impossible: the second decides.
TEST(ExploredTree, BoundsAreNumbers) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed, "bounds");
    const FactorGraph graph =
        testing::random_model(random, {.num_factors = 6, .max_arity = 2, .zero_probability = 0.6});
    const std::vector<int> order = search_order(graph, SpaceKind::kAndOr, {.kind = OrderKind::kGiven});
    const SearchSpace space = make_search_space(graph, order, SpaceKind::kAndOr);
    for (std::int64_t budget = 1; budget < 20; ++budget) {
      const QUctResult result = q_uct_search(graph, space, {}, {.budget = budget});
      for (const ExploredTree::Node& node : result.approximation->explored_tree(100).nodes) {
        for (const ExploredTree::Edge& edge : node.edges) {
          EXPECT_LE(edge.bounds.lower, edge.bounds.upper) << seed << " " << budget;
        }
      }
    }
  }
}

}  // namespace
}  // namespace treesample
