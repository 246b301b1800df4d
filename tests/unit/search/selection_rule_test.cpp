#include "search/selection_rule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "treesample/families/family.hpp"

namespace treesample {
namespace {

// Eq. 7 from the logarithms of the children's values, at every node with two open edges: the chosen edge has the
// highest score. With c = 0 it has the highest value, and a large c prefers the edge with fewer visits.
TEST(SelectionRule, QUctChoosesTheEdgeWithTheHighestScore) {
  FamilyOptions family{.seed = 1};
  family.values = {{"n", 6}};
  const FactorGraph graph = make_family("ising", family).graph;
  for (const double c : {0.0, 1.0, 100.0}) {
    const SearchSpace space = make_search_space(graph, search_order(graph, SpaceKind::kGraph, {}), SpaceKind::kGraph);
    const LeafValues leaves{.estimate = std::make_shared<const UniformValue>(space)};
    const SearchOptions options{.select = SelectRule::kQUct, .c = c, .dive_interval = 0};
    const SearchResult result = search(graph, space, leaves, {.budget = 600}, options);
    const BoundStore& store = *result.store;
    const std::unique_ptr<SelectionRule> rule = make_rule(space, leaves, options);
    EdgeBounds edges(space);
    edges.see_factors(graph, space);
    int num_chosen[2] = {};
    for (int n = 0; n < space.num_levels(); ++n) {
      for (NodeIndex i = 0; i < store.end_index(n); ++i) {
        BoundNode node = store.node(n, i);
        if (!node.is_expanded()) continue;
        const Expansion expansion = store.expansion(n, node);
        edges.back_up(store, n, node);
        if (edges.num_open() < 2) continue;
        double scores[2];
        const double visits = 1.0 + expansion.visits(0) + expansion.visits(1);
        for (int a = 0; a < 2; ++a) {
          const double value =
              expansion.reward(a) + store.node(store.children(n)[0], expansion.links(a)[0]).log_estimate();
          const double scale = std::max(space.levels[n].log_states_below, options.epsilon);
          scores[a] = value + c * scale * std::sqrt(visits) / (1.0 + expansion.visits(a));
        }
        const int chosen = rule->choose(n, edges, expansion);
        EXPECT_GE(scores[chosen], scores[1 - chosen] - 1e-9 * std::abs(scores[chosen]));
        ++num_chosen[chosen];
      }
    }
    EXPECT_GT(num_chosen[0], 10);
    EXPECT_GT(num_chosen[1], 10);
  }
}

}  // namespace
}  // namespace treesample
