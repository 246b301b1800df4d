#include "treesample/reduce/intervention.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/exact/elimination.hpp"

namespace treesample {
namespace {

std::vector<double> logarithms(std::vector<double> numbers) {
  for (double& number : numbers) number = std::log(number);
  return numbers;
}

// u causes x and y, and x causes y: P(y | do(x)) = sum over u of P(u) P(y | x, u).
TEST(Intervention, IsAdjustmentByHand) {
  FactorGraph graph = testing::variables(3, 2);
  graph.add_table({0}, logarithms({0.7, 0.3}));
  graph.add_table({0, 1}, logarithms({0.9, 0.1, 0.2, 0.8}));
  graph.add_table({0, 1, 2}, logarithms({0.8, 0.2, 0.6, 0.4, 0.3, 0.7, 0.1, 0.9}));
  const Elimination done(intervened(graph, {{1, 1}}));
  EXPECT_NEAR(done.log_z(), 0.0, 1e-14);
  EXPECT_NEAR(done.marginals()[2][1], 0.7 * 0.4 + 0.3 * 0.9, 1e-14);
  EXPECT_NEAR(done.marginals()[0][1], 0.3, 1e-14);  // setting says nothing about causes
  const Elimination seen(condition(graph, {{1, 1}}).graph);
  EXPECT_NEAR(seen.marginals()[1][1], (0.07 * 0.4 + 0.24 * 0.9) / 0.31, 1e-14);
  const Elimination both(condition(intervened(graph, {{1, 1}}), {{2, 1}}).graph);
  EXPECT_NEAR(both.log_z(), std::log(0.55), 1e-14);
  EXPECT_EQ(intervened(graph, {}).num_factors(), 3);
}

TEST(Intervention, IsForNetworks) {
  FactorGraph graph = testing::variables(2, 2);
  graph.add_table({0, 1}, {0.0, 0.0, 0.0, 0.0});
  testing::expect_error(ErrorCode::kArgument, "is for Bayesian networks", [&] { intervened(graph, {{0, 1}}); });
  testing::expect_error(ErrorCode::kArgument, [&] { intervened(graph, {{0, 2}}); });
}

}  // namespace
}  // namespace treesample
