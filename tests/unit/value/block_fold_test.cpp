#include "value/block_fold.hpp"

#include <gtest/gtest.h>

#include "support/random_models.hpp"
#include "treesample/math/random.hpp"
#include "value/block_team.hpp"

namespace treesample {
namespace {

// Numbers that add up without rounding, onto targets that have few and many of the outer variables.
TEST(BlockFold, AddsEveryBlockOnceForAnyNumberOfThreads) {
  FactorGraph graph;
  const std::vector<int> scope = testing::integers(15);
  for (std::size_t v = 0; v < scope.size(); ++v) graph.add_variable(v % 4 == 1 ? 3 : 2);
  std::vector<double> large(num_table_entries(graph, scope));
  Random random(5);
  for (double& value : large) value = static_cast<double>(random.below(1000));
  const std::vector<std::vector<int>> scopes = {{14}, {2, 14}, {0, 1, 2, 3, 4, 14}, {0, 2, 4, 6, 8, 10, 14}};
  for (const int threads : {1, 2, 5}) {
    ThreadTeam threads_of_team(threads);
    BlockTeam team(threads_of_team);
    BlockWalk walk(graph, scope);
    std::vector<BlockFold::Target> targets;
    for (const std::vector<int>& part : scopes)
      targets.push_back({walk.add_table(part), num_table_entries(graph, part)});
    const BlockFold parts(walk, targets);
    ASSERT_GT(parts.num_parts(), 1U);
    EXPECT_EQ(parts.num_parts() * parts.num_blocks(), walk.num_blocks());
    std::vector<std::vector<double>> copies;
    for (std::size_t t = 0; t < targets.size(); ++t) copies.emplace_back(parts.num_entries(t), -1e300);
    ASSERT_TRUE(team.fold(walk, parts, 1, [&](const BlockWalk& at, const BlockFold::Place& place, int) {
      const std::span<const double> block(large.data() + at.first_entry(), at.block_size());
      for (std::size_t t = 0; t < targets.size(); ++t) {
        double* const entries = parts.entries(t, at, place, copies[t].data());
        if (parts.is_first(t, place)) std::fill_n(entries, at.inner_size(targets[t].id), 0.0);
        at.accumulate_at(0, targets[t].id, block, entries);
      }
    }));
    for (std::size_t t = 0; t < targets.size(); ++t) {
      std::vector<double> sums(targets[t].num_entries), expected(sums.size(), 0.0);
      ASSERT_TRUE(team.add_copies(copies[t], sums));
      add_sums(graph, scope, large.data(), scopes[t], expected.data());
      EXPECT_EQ(sums, expected) << t;
    }
  }
}

}  // namespace
}  // namespace treesample
