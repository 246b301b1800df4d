#include "treesample/model/factor_graph.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/log_value.hpp"

namespace treesample {
namespace {

using testing::expect_error;

TEST(FactorGraph, DensityIsTheSumOfTheFactors) {
  FactorGraph graph = testing::variables({2});
  graph.add_variable({.num_states = 3, .name = "colour", .state_names = {"red", "green", "blue"}});
  graph.add_table({1, 0}, {0, 1, 2, 3, 4, 5});  // the last variable of the scope is the fastest
  graph.add_table({0}, {10, 20});
  graph.add_table({0}, {100, 200});  // repeated scopes are legal
  graph.add_table({}, {0.5});
  graph.add_factor(Factor::function({1}, [](std::span<const int> s) { return s[0] == 2 ? kNegInf : 0.25 * s[0]; }));
  EXPECT_EQ(graph.log_density(Assignment{1, 1}), 3 + 20 + 200 + 0.5 + 0.25);
  EXPECT_EQ(graph.log_density(Assignment{0, 2}), kNegInf);
  EXPECT_NEAR(graph.log_num_configurations(), std::log(6.0), 1e-15);
  EXPECT_FALSE(graph.has_only_tables());
  EXPECT_EQ(graph.factor(0).log_max(), 5.0);
  EXPECT_EQ(graph.variable(1).state_names[2], "blue");
}

TEST(FactorGraph, LogDensityOfManyFactorsIsRoundedOnce) {
  FactorGraph graph = testing::variables({1});
  for (int i = 0; i < 10'000; ++i) graph.add_table({0}, {0.1});
  graph.add_table({0}, {-1000.0});
  EXPECT_NEAR(graph.log_density(Assignment{0}), 0.0, 1e-12);
}

TEST(FactorGraph, RefusesWhatItCannotHold) {
  FactorGraph graph = testing::variables({2, 2});
  expect_error(ErrorCode::kArgument, "num_states is 0", [&] { graph.add_variable(0); });
  expect_error(ErrorCode::kArgument, "allowed are 1 to", [&] { graph.add_variable(FactorGraph::kMaxStates + 1); });
  expect_error(ErrorCode::kArgument, "state names",
               [&] { graph.add_variable({.num_states = 2, .state_names = {"one"}}); });
  expect_error(ErrorCode::kArgument, "scope variable is 2", [&] { graph.add_table({2}, {0, 0}); });
  expect_error(ErrorCode::kArgument, "variable 1 is twice", [&] { graph.add_table({1, 1}, {0, 0, 0, 0}); });
  expect_error(ErrorCode::kArgument, "has 3 entries, its scope needs 4", [&] { graph.add_table({0, 1}, {0, 0, 0}); });
  expect_error(ErrorCode::kArgument, "entry 1 is nan", [&] { graph.add_table({0}, {0, std::nan("")}); });
  expect_error(ErrorCode::kArgument, "entry 0 is inf", [&] { graph.add_table({0}, {HUGE_VAL, 0}); });
  expect_error(ErrorCode::kArgument, "function is empty", [&] { graph.add_factor(Factor::function({0}, nullptr)); });
  EXPECT_EQ(graph.num_factors(), 0);
  EXPECT_EQ(graph.num_variables(), 2);
}

TEST(FactorGraph, RefusesTablesTooLargeToIndex) {
  FactorGraph graph = testing::variables(40, FactorGraph::kMaxStates);
  std::vector<int> scope;
  for (int v = 0; v < 40; ++v) scope.push_back(v);
  expect_error(ErrorCode::kArgument, "needs more than", [&] { graph.add_table(scope, {0.0}); });
}

TEST(FactorGraph, FunctionsMustReturnLogValues) {
  FactorGraph graph = testing::variables({3});
  graph.add_factor(Factor::function({0}, [](std::span<const int> s) { return s[0] == 1 ? HUGE_VAL : std::nan(""); }));
  expect_error(ErrorCode::kNumeric, "factor 0 at x0=1: the function returned inf, allowed are -inf and numbers from",
               [&] { static_cast<void>(graph.log_density(Assignment{1})); });
  expect_error(ErrorCode::kNumeric, "factor 0 at x0=2: the function returned nan",
               [&] { static_cast<void>(graph.log_density(Assignment{2})); });
}

TEST(FactorGraph, ValuesBeyondTheLimitAndAboveTheDeclaredMaximumAreRefusedByName) {
  FactorGraph graph;
  graph.add_variable({.num_states = 2, .name = "pump", .state_names = {"ok", "failed"}});
  for (const double value : {kMaxLogValue, -kLargestMagnitude, kNegInf, -1e9}) {
    EXPECT_NO_THROW(graph.add_table({0}, {0.0, value}));
    EXPECT_NO_THROW(graph.add_factor(Factor::function({}, [&](std::span<const int>) { return value; })));
  }
  for (const double value : {std::nextafter(kMaxLogValue, HUGE_VAL), 2e7, 1e308, -1e301, HUGE_VAL, std::nan("")}) {
    if (!(std::abs(value) <= kLargestMagnitude)) {  // tables have wider limits
      expect_error(ErrorCode::kArgument, "entry 1 is", [&] { graph.add_table({0}, {0.0, value}); });
    }
    expect_error(ErrorCode::kArgument, "log_max is", [&] {
      Factor::function(
          {0}, [](std::span<const int>) { return 0.0; }, value);
    });
    expect_error(ErrorCode::kNumeric, "to 17000000",
                 [&] { graph.add_factor(Factor::function({}, [&](std::span<const int>) { return value; })); });
  }
  const int last = graph.add_factor(Factor::function(
      {0}, [](std::span<const int> s) { return 0.5 * s[0]; }, 0.25));
  EXPECT_EQ(graph.log_value(last, Assignment{0}), 0.0);
  expect_error(ErrorCode::kNumeric, "at pump=failed: the function returned 0.5, above its declared log_max of 0.25",
               [&] { static_cast<void>(graph.log_value(last, Assignment{1})); });
}

TEST(FactorGraph, FunctionWithoutVariablesBecomesAConstant) {
  int calls = 0;
  FactorGraph graph;
  graph.add_factor(Factor::function({}, [&](std::span<const int>) {
    ++calls;
    return 2.5;
  }));
  EXPECT_TRUE(graph.has_only_tables());
  EXPECT_EQ(graph.log_density(Assignment{}), 2.5);
  EXPECT_EQ(calls, 1);
}

TEST(FactorGraph, AssignmentsAreChecked) {
  FactorGraph graph = testing::variables({2});
  expect_error(ErrorCode::kArgument, "state of variable 0 is 2",
               [&] { graph.check_assignment(Assignment{2}, "test"); });
  expect_error(ErrorCode::kArgument, "number of states given is 2", [&] {
    graph.check_assignment(Assignment{0, 0}, "test");
  });
}

}  // namespace
}  // namespace treesample
