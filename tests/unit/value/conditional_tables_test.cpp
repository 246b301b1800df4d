#include "value/conditional_tables.hpp"

#include <gtest/gtest.h>

namespace treesample {
namespace {

FactorGraph variables_with(const std::vector<int>& num_states) {
  FactorGraph graph;
  for (const int count : num_states) graph.add_variable(count);
  return graph;
}

TEST(ConditionalTables, HaveForEveryContextWhatWasWritten) {
  const FactorGraph graph = variables_with({3, 2, 4, 2});
  ConditionalTables tables(2);
  const auto number = [](std::span<const int> x, std::size_t a) { return 100.0 * x[2] + 10.0 * x[0] + a; };
  const std::vector<int> scope = {2, 0, 1};
  tables.make(graph, 1, scope, [&](std::span<const int> x, std::span<double> probs, std::span<double> log_probs) {
    for (std::size_t a = 0; a < probs.size(); ++a) {
      probs[a] = number(x, a);
      log_probs[a] = -number(x, a);
    }
  });
  Assignment x = {0, -1, 0, 1};
  EXPECT_TRUE(tables.at(0, x).probs.empty());
  for (x[0] = 0; x[0] < 3; ++x[0]) {
    for (x[2] = 0; x[2] < 4; ++x[2]) {
      const ConditionalTables::View view = tables.at(1, x);
      ASSERT_EQ(view.probs.size(), 2U);
      for (std::size_t a = 0; a < 2; ++a) {
        EXPECT_EQ(view.probs[a], number(x, a));
        EXPECT_EQ(view.log_probs[a], -number(x, a));
      }
    }
  }
}

TEST(ConditionalTables, LargeOnesAreNotMade) {
  const FactorGraph graph = variables_with({32, 32});
  ConditionalTables tables(1);
  int num_written = 0;
  tables.make(graph, 0, std::vector<int>{0, 1}, [&](auto, auto, auto) { ++num_written; });
  EXPECT_EQ(num_written, 0);
  EXPECT_TRUE(tables.at(0, Assignment{0, -1}).probs.empty());
}

}  // namespace
}  // namespace treesample
