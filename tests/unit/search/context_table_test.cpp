#include "search/context_table.hpp"

#include <gtest/gtest.h>

#include <map>

#include "support/random_models.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

// Variables 0..n-1 that one factor each joins to the last one: the context of its level is all of them.
SearchSpace star(const std::vector<int>& num_states) {
  FactorGraph graph = testing::variables(num_states);
  const int last = graph.add_variable(2);
  for (int v = 0; v < last; ++v) graph.add_table({v, last}, std::vector<double>(num_states[v] * 2UL, 0.0));
  const std::vector<int> order = testing::integers(last + 1);
  return make_search_space(graph, order, SpaceKind::kGraph);
}

TEST(ContextTable, IsAMapFromContextsThroughInsertionsAndErasures) {
  // One word, and several: 30 variables of 3 bits; a variable of no bits after a full word.
  std::vector<int> full(66, 2);
  full[64] = 1;
  for (const std::vector<int>& num_states : {std::vector<int>{2, 3, 1, 7, 4}, std::vector<int>(30, 5), full}) {
    const SearchSpace space = star(num_states);
    ContextTable table(space, static_cast<int>(num_states.size()));
    std::map<Assignment, NodeIndex> reference;
    Random random(num_states.size());
    NodeIndex next = 0;
    Assignment x(num_states.size() + 1, -1);
    for (int step = 0; step < 20'000; ++step) {
      for (std::size_t v = 0; v < num_states.size(); ++v) {
        // Few different contexts, so that most are met again.
        x[v] = v < 5 ? static_cast<int>(random.below(num_states[v])) : x[v % 5] % num_states[v];
      }
      NodeIndex& node = table.find_or_insert(x);
      const auto known = reference.find(x);
      ASSERT_EQ(node, known == reference.end() ? kNoNode : known->second);
      if (node == kNoNode) reference[x] = node = next++;
      if (step % 500 != 499) continue;
      const auto is_dead = [&](NodeIndex i) { return (i + step / 500) % 3 == 0; };
      table.erase_if(is_dead);
      std::erase_if(reference, [&](const auto& item) { return is_dead(item.second); });
    }
    EXPECT_GT(next, reference.size());
    for (const auto& [context, node] : reference) EXPECT_EQ(table.find_or_insert(context), node);
  }
}

TEST(ContextTable, StatesOutsideTheContextDoNotCount) {
  FactorGraph graph = testing::variables(3, 3);
  graph.add_table({0, 1}, std::vector<double>(9, 0.0));
  graph.add_table({1, 2}, std::vector<double>(9, 0.0));
  const SearchSpace space = make_search_space(graph, std::vector<int>{0, 1, 2}, SpaceKind::kGraph);
  ContextTable table(space, 2);
  table.find_or_insert(Assignment{0, 1, -1}) = 5;
  EXPECT_EQ(table.find_or_insert(Assignment{2, 1, 0}), 5U);
  EXPECT_EQ(table.find_or_insert(Assignment{0, 2, -1}), kNoNode);
}

// Erasing everything leaves a table that takes as many again without growing.
TEST(ContextTable, ErasedSlotsAreUsedAgain) {
  const SearchSpace space = star({10, 10, 10});
  ContextTable table(space, 3);
  std::size_t bytes = 0;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 1000; ++i) table.find_or_insert(Assignment{i % 10, i / 10 % 10, i / 100, -1}) = i;
    if (round == 0) bytes = table.num_bytes();
    EXPECT_EQ(table.num_bytes(), bytes);
    table.erase_if([](NodeIndex) { return true; });
    EXPECT_EQ(table.find_or_insert(Assignment{1, 2, 3, -1}), kNoNode);
    table.erase_if([](NodeIndex) { return true; });
  }
}

}  // namespace
}  // namespace treesample
