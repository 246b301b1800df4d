#include "search/bound_store.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "search/collapse.hpp"
#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/search/search.hpp"

namespace treesample {
namespace {

using NodeId = std::pair<int, NodeIndex>;  // level, index

struct Searched {
  FactorGraph graph;
  SearchSpace space;
  std::shared_ptr<BoundStore> store;
  SearchReport report;
};

Searched search(int trial, SpaceKind kind, std::int64_t budget) {
  Searched result;
  Random random(trial, "bound store test");
  result.graph = testing::random_model(
      random, {.num_variables = 8, .min_states = 2, .num_factors = 12, .zero_probability = 0.1 * (trial % 2)});
  result.space = make_search_space(result.graph, search_order(result.graph, kind, {}), kind);
  LeafValues leaves{.lower = product_value(result.graph, result.space, uniform_distributions(result.graph)),
                    .upper = maxima_value(result.graph, result.space)};
  const SearchResult found = search(result.graph, result.space, leaves, {.budget = budget});
  result.store = std::const_pointer_cast<BoundStore>(found.store);
  result.report = found.report;
  return result;
}

// Every node that links lead to, with those below nodes for which `is_cut` holds left out.
std::set<NodeId> reachable(const BoundStore& store, const std::function<bool(NodeId)>& is_cut) {
  std::set<NodeId> result;
  std::vector<NodeId> open;
  const SearchSpace& space = store.space();
  for (std::size_t r = 0; r < space.roots.size(); ++r) open.emplace_back(space.roots[r], store.root_links()[r]);
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (!result.insert(id).second) continue;
    const BoundNode& node = store.node(id.first, id.second);
    if (!node.is_expanded() || is_cut(id)) continue;
    const Expansion expansion = store.expansion(id.first, node);
    const std::vector<int>& children = space.levels[id.first].children;
    for (int a = 0; a < space.levels[id.first].num_states; ++a) {
      for (std::size_t j = 0; j < children.size(); ++j) {
        if (expansion.links(a)[j] != kNoNode) open.emplace_back(children[j], expansion.links(a)[j]);
      }
    }
  }
  return result;
}

std::set<NodeId> kept(const BoundStore& store) {
  std::set<NodeId> result;
  for (int n = 0; n < store.space().num_levels(); ++n) {
    for (NodeIndex i = 0; i < store.end_index(n); ++i) {
      if (!store.node(n, i).is_given_back) result.insert({n, i});
    }
  }
  return result;
}

std::uint64_t count_expansions(const BoundStore& store, const std::set<NodeId>& nodes) {
  std::uint64_t count = 0;
  for (const auto& [level, index] : nodes) count += store.node(level, index).is_expanded() ? 1 : 0;
  return count;
}

// What nodes and expansions take; the rest of used_bytes is look-up tables, which keep their size.
std::size_t bytes_of(const BoundStore& store, const std::set<NodeId>& nodes) {
  std::size_t bytes = 0;
  for (const auto& [level, index] : nodes) {
    bytes += sizeof(BoundNode);
    if (!store.node(level, index).is_expanded()) continue;
    bytes += store.expansion_bytes(level);
  }
  return bytes;
}

std::vector<std::vector<bool>> marks(const BoundStore& store, const std::function<bool(NodeId)>& is_marked) {
  std::vector<std::vector<bool>> result;
  for (int n = 0; n < store.space().num_levels(); ++n) {
    result.emplace_back(store.end_index(n), false);
    for (NodeIndex i = 0; i < store.end_index(n); ++i) result[n][i] = is_marked({n, i});
  }
  return result;
}

constexpr SpaceKind kSpaces[] = {SpaceKind::kTree, SpaceKind::kGraph, SpaceKind::kAndOr};

TEST(BoundStore, CollapseGivesBackExactlyWhatCannotBeReached) {
  for (int trial = 0; trial < 12; ++trial) {
    for (const SpaceKind kind : kSpaces) {
      const Searched searched = search(trial, kind, 400);
      BoundStore& store = *searched.store;
      const std::set<NodeId> before = kept(store);
      const std::size_t table_bytes = store.used_bytes() - bytes_of(store, before);
      ASSERT_EQ(before, reachable(store, [](NodeId) { return false; }));
      ASSERT_EQ(store.num_nodes(), before.size());
      ASSERT_EQ(store.num_expansions(), count_expansions(store, before));
      const auto is_marked = [&](NodeId id) { return (id.first * 7 + id.second + trial) % 5 == 0; };
      const std::set<NodeId> expected = reachable(store, is_marked);
      std::vector<double> bounds;
      for (const auto& [level, index] : expected) {
        bounds.push_back(store.node(level, index).log_lower());
        bounds.push_back(store.node(level, index).log_upper());
      }
      store.collapse(marks(store, is_marked));
      EXPECT_EQ(kept(store), expected);
      EXPECT_EQ(store.num_nodes(), expected.size());
      EXPECT_EQ(store.num_expansions(), count_expansions(store, expected));
      EXPECT_EQ(store.used_bytes(), bytes_of(store, expected) + table_bytes);
      std::size_t i = 0;
      for (const auto& id : expected) {
        const BoundNode& node = store.node(id.first, id.second);
        EXPECT_EQ(node.log_lower(), bounds[i++]);
        EXPECT_EQ(node.log_upper(), bounds[i++]);
        if (is_marked(id)) {
          EXPECT_FALSE(node.is_expanded());
        }
      }
    }
  }
}

TEST(BoundStore, WhatWasGivenBackIsUsedAgain) {
  const Searched searched = search(2, SpaceKind::kTree, 400);
  BoundStore& store = *searched.store;
  const NodeIndex end = store.end_index(3);
  store.collapse(marks(store, [](NodeId id) { return id.first == 1; }));
  const std::size_t bytes = store.used_bytes();
  ASSERT_GT(end, 2U);
  for (NodeIndex i = 0; i < end; ++i) {
    const NodeIndex index = store.create_node(3);
    EXPECT_LT(index, end);
    EXPECT_FALSE(store.node(3, index).is_given_back);
    EXPECT_FALSE(store.node(3, index).was_collapsed);
    EXPECT_FALSE(store.node(3, index).is_expanded());
  }
  EXPECT_EQ(store.end_index(3), end);
  EXPECT_EQ(store.used_bytes(), bytes + end * sizeof(BoundNode));
  EXPECT_EQ(store.create_node(3), end);
}

// A context whose node was given back is new; one whose node stays is known.
TEST(BoundStore, LookUpsForgetWhatWasGivenBack) {
  for (int trial = 0; trial < 12; ++trial) {
    const Searched searched = search(trial, SpaceKind::kGraph, 400);
    BoundStore& store = *searched.store;
    store.collapse(marks(store, [](NodeId id) { return id.second % 2 == 1; }));
    int num_forgotten = 0;
    for (int n = 0; n < searched.space.num_levels(); ++n) {
      const Level& level = searched.space.levels[n];
      if (!level.is_shared) continue;
      std::set<NodeIndex> known;
      Assignment x(searched.graph.num_variables(), 0);
      for (std::size_t i = 0; i < level.context.size() + 1;) {  // all contexts
        const NodeIndex node = store.find_or_insert(n, x);
        if (node != kNoNode) known.insert(node);
        for (i = 0; i < level.context.size(); ++i) {
          const Level& other = searched.space.levels[level.context[i]];
          if (++x[other.variable] < other.num_states) break;
          x[other.variable] = 0;
        }
        if (i == level.context.size()) break;
      }
      for (NodeIndex i = 0; i < store.end_index(n); ++i) {
        EXPECT_EQ(known.count(i), store.node(n, i).is_given_back ? 0U : 1U);
        num_forgotten += store.node(n, i).is_given_back ? 1 : 0;
      }
    }
    EXPECT_GT(num_forgotten, 0);
  }
}

TEST(Collapse, TakesAboutTheShareKeepsTheRootsAndMarksWhatItTook) {
  for (int trial = 0; trial < 12; ++trial) {
    for (const SpaceKind kind : kSpaces) {
      const Searched searched = search(trial, kind, 600);
      BoundStore& store = *searched.store;
      if (searched.report.stop == StopReason::kExact) continue;
      const std::uint64_t before = store.num_expansions();
      const BoundNode root = store.node(searched.space.roots[0], store.root_links()[0]);
      collapse_least(store, 0.5);
      // Of those that are marked; what lies below them goes too.
      EXPECT_LE(store.num_expansions(), before - before / 3);
      EXPECT_GE(store.num_expansions(), 1U);
      EXPECT_EQ(kept(store), reachable(store, [](NodeId) { return false; }));
      const BoundNode& same = store.node(searched.space.roots[0], store.root_links()[0]);
      EXPECT_TRUE(same.is_expanded());
      EXPECT_EQ(same.log_lower(), root.log_lower());
      EXPECT_EQ(same.log_upper(), root.log_upper());
    }
  }
}

// Two sub-problems, one with much mass left to resolve: the other one goes.
TEST(Collapse, KeepsTheMassThatIsLeftToResolve) {
  FactorGraph graph = testing::variables(7, 2);
  graph.add_table({0}, {0.0, -20.0});
  for (int v = 1; v < 7; ++v) {
    for (int w = 0; w < v; ++w) graph.add_table({w, v}, {0.3 * w, -1.0, 0.1 * v, 0.2});
  }
  const std::vector<int> order = testing::integers(7);
  const SearchSpace space = make_search_space(graph, order, SpaceKind::kTree);
  LeafValues leaves{.lower = product_value(graph, space, uniform_distributions(graph)),
                    .upper = maxima_value(graph, space)};
  SearchOptions options;
  options.select = SelectRule::kQUct;  // goes into both
  options.c = 100.0;
  const SearchResult result = search(graph, space, leaves, {.budget = 30}, options);
  const auto store = std::const_pointer_cast<BoundStore>(result.store);
  const BoundNode& root = store->node(0, store->root_links()[0]);
  const NodeIndex likely = store->expansion(0, root).links(0)[0];
  const NodeIndex unlikely = store->expansion(0, root).links(1)[0];
  ASSERT_TRUE(store->node(1, likely).is_expanded());
  ASSERT_TRUE(store->node(1, unlikely).is_expanded());
  collapse_least(*store, 0.8);
  EXPECT_TRUE(store->node(1, likely).is_expanded());
  EXPECT_FALSE(store->node(1, unlikely).is_expanded());
  EXPECT_TRUE(store->node(1, unlikely).was_collapsed);
}

TEST(BoundStore, BlocksBeyondTheirOffsetsAreRefused) {
  EXPECT_NO_THROW(ExpansionLayout(1 << 20, 100, true, true));
  testing::expect_error(ErrorCode::kResource, [] { ExpansionLayout(1 << 20, 1024, true, true); });  // 4 GiB of links
}

}  // namespace
}  // namespace treesample
