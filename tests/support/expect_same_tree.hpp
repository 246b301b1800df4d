#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "support/same_tree.hpp"
#include "support/search_models.hpp"
#include "treesample/tree/tree_sample.hpp"

namespace treesample::testing {

// Compares node by node: visits, values, complete flags, and which nodes exist. The twin has the Q_phi of the search.
inline void expect_same_tree(const FactorGraph& graph, const std::vector<int>& order, std::int64_t budget,
                             const literal::TreeSample<>::Options& twin_options,
                             const std::shared_ptr<const LeafValue>& q_phi = nullptr) {
  const SearchSpace space = make_search_space(graph, order, SpaceKind::kTree);
  const TreeSearchResult result =
      tree_sample(graph, space, {.estimate = q_phi}, {.budget = budget}, {.c = twin_options.c});
  literal::TreeSample<> twin(graph, order, twin_options);
  twin.tree_sample(budget);
  ASSERT_EQ(result.report.spent.reward_evaluations, twin.used());
  ASSERT_EQ(difference(result.approximation.store(), twin.tree()), "") << budget;
  if (twin.log_z() != kNegInf) {
    ASSERT_NEAR(result.approximation.log_z(), twin.log_z(), 1e-9);
  }
  if (q_phi) {
    const double expected = result.report.estimate == kNegInf ? 0.0 : 1.0;
    EXPECT_NEAR(total_probability(graph, result.approximation), expected, 1e-9);
  }
}

}  // namespace treesample::testing
