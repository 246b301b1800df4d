#include "exact/bucket_chain.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "exact/elimination_pass.hpp"
#include "exact/linear_table.hpp"
#include "support/random_models.hpp"
#include "treesample/families/ising.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

std::vector<int> rows(const FactorGraph& graph) { return testing::integers(graph.num_variables()); }

// A grid of n columns with these numbers of states by column, eliminated row by row.
FactorGraph grid(int num_rows, const std::vector<int>& states, double zeros, std::uint64_t seed) {
  Random random(seed);
  FactorGraph graph;
  const int n = static_cast<int>(states.size());
  for (int v = 0; v < num_rows * n; ++v) graph.add_variable(states[v % n]);
  const auto add = [&](int v, int w) {
    std::vector<double> values(static_cast<std::size_t>(graph.num_states(v)) * graph.num_states(w));
    for (double& value : values) value = random.uniform() < zeros ? kNegInf : random.normal();
    graph.add_table({v, w}, values);
  };
  for (int v = 0; v < num_rows * n; ++v) {
    if (v % n + 1 < n) add(v, v + 1);
    if (v + n < num_rows * n) add(v, v + n);
  }
  return graph;
}

TEST(BucketChain, IsFourBucketsOfAGrid) {
  const FactorGraph graph = make_ising({.n = 16}, 1).graph;
  const std::vector<int> order = rows(graph);
  const BucketTree tree(graph, {.order = order});
  const BucketChain chain = longest_chain(graph, tree, std::span(order).subspan(40));
  EXPECT_EQ(chain.variables, (std::vector<int>{40, 41, 42, 43}));
  // Each bucket has a new variable, which is within its blocks and not within those of the one below.
  EXPECT_EQ(chain.num_inner, (std::vector<std::size_t>{8, 9, 10, 11}));
  // The first messages are small.
  EXPECT_EQ(longest_chain(graph, tree, order).variables, std::vector<int>{0});
}

// Where messages are kept a chain stores all of them, and nothing else is different.
TEST(BucketChain, SameNumbersWithKeptMessagesAndAnyNumberOfThreads) {
  for (const double zeros : {0.0, 0.3}) {
    const FactorGraph graph = grid(4, {2, 3, 2, 2, 3, 2, 2, 2, 3, 2, 2, 2, 2, 2}, zeros, 7);
    const std::vector<int> order = rows(graph);
    const Observer nobody;
    std::vector<double> log_z;
    std::vector<Marginals> marginals;
    for (const int threads : {1, 3}) {
      for (const bool keeps : {false, true}) {
        ThreadTeam team(threads);
        EntryWatch watch(nobody, 1.0);
        const auto pool = std::make_shared<TablePool>(1e9);
        const auto pass = linear_pass(graph, {.order = order}, {keeps, &team, pool}, watch);
        log_z.push_back(pass->log_z());
        if (keeps && log_z.back() != kNegInf) marginals.push_back(pass->marginals(watch));
      }
    }
    for (const double value : log_z) EXPECT_EQ(value, log_z.front());
    ThreadTeam team(1);
    EntryWatch watch(nobody, 1.0);
    const auto logs = log_pass(graph, {.order = order}, {true, &team, nullptr}, watch);
    if (logs->log_z() == kNegInf) {
      EXPECT_EQ(log_z.front(), kNegInf);
      continue;
    }
    EXPECT_NEAR(log_z.front(), logs->log_z(), 1e-10 * std::abs(logs->log_z()));
    const Marginals expected = logs->marginals(watch);
    ASSERT_EQ(marginals.size(), 2U);
    EXPECT_EQ(marginals[0], marginals[1]);
    for (std::size_t v = 0; v < expected.size(); ++v) {
      for (std::size_t a = 0; a < expected[v].size(); ++a) EXPECT_NEAR(marginals[0][v][a], expected[v][a], 1e-9);
    }
  }
}

}  // namespace
}  // namespace treesample
