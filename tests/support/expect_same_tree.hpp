#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "support/same_tree.hpp"
#include "treesample/tree/tree_sample.hpp"

namespace treesample::testing {

// Node by node: visits, values, complete flags, and which nodes exist.
inline void expect_same_tree(const FactorGraph& graph, const std::vector<int>& order, std::int64_t budget, double c) {
  const SearchSpace space = make_search_space(graph, order, SpaceKind::kTree);
  const TreeSearchResult result = tree_sample(graph, space, {}, {.budget = budget}, {.c = c});
  literal::TreeSample<> twin(graph, order, {.c = c});
  twin.tree_sample(budget);
  ASSERT_EQ(result.report.spent.reward_evaluations, twin.used());
  ASSERT_EQ(difference(result.approximation.store(), twin.tree()), "");
  if (twin.log_z() != kNegInf) {
    ASSERT_NEAR(result.approximation.log_z(), twin.log_z(), 1e-9);
  }
}

}  // namespace treesample::testing
