#include "search/selection_rule.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "treesample/families/family.hpp"

namespace treesample {
namespace {

// Noted nodes get the choices that they would have got one by one, however many there are.
TEST(SelectionRule, NodesOfAPathAreChosenForTogether) {
  FamilyOptions family{.seed = 1};
  family.values = {{"n", 6}};
  const FactorGraph graph = make_family("ising", family).graph;
  for (const SpaceKind kind : {SpaceKind::kGraph, SpaceKind::kAndOr}) {
    const SearchSpace space = make_search_space(graph, search_order(graph, kind, {}), kind);
    const LeafValues leaves{.estimate = std::make_shared<const UniformValue>(space)};
    const SearchOptions options{.select = SelectRule::kQUct, .dive_interval = 0};
    const SearchResult result = search(graph, space, leaves, {.budget = 600}, options);
    const BoundStore& store = *result.store;
    const std::unique_ptr<SelectionRule> rule = make_rule(space, leaves, options);
    EdgeBounds edges(space);
    edges.see_factors(graph, space);
    std::vector<std::pair<Expansion, int>> expected;
    bool has_both = false;
    for (int n = 0; n < space.num_levels(); ++n) {
      for (NodeIndex i = 0; i < store.end_index(n); ++i) {
        BoundNode node = store.node(n, i);
        if (!node.is_expanded()) continue;
        const Expansion expansion = store.expansion(n, node);
        edges.gather(store, n, node);
        edges.back_up(node);
        if (edges.num_open() < 2) continue;
        expected.emplace_back(expansion, rule->choose(n, edges, expansion));
        has_both = has_both || expected.back().second != expected.front().second;
        expansion.choice() = 7;
        ASSERT_TRUE(rule->note(n, edges, expansion));
      }
    }
    rule->choose_noted();
    EXPECT_GT(expected.size(), 130U);  // more than are kept at a time
    EXPECT_TRUE(has_both);
    for (const auto& [expansion, choice] : expected) EXPECT_EQ(static_cast<int>(expansion.choice()), choice);
  }
}

}  // namespace
}  // namespace treesample
