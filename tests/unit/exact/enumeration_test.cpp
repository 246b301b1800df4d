#include "treesample/exact/enumeration.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// Two variables with 2 and 3 states and the weights 1..6: Z = 21 by hand.
FactorGraph two_variables() {
  FactorGraph graph = testing::variables({2, 3});
  std::vector<double> table;
  for (int weight = 1; weight <= 6; ++weight) table.push_back(std::log(weight));
  graph.add_table({0, 1}, table);
  return graph;
}

TEST(Enumeration, EqualsSumsByHand) {
  const Enumeration result = enumerate(two_variables());
  EXPECT_NEAR(result.log_z, std::log(21.0), 1e-14);
  ASSERT_EQ(result.log_probs.size(), 6U);
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(std::exp(result.log_probs[i]), (i + 1) / 21.0, 1e-14);
  EXPECT_NEAR(result.marginals[0][0], 6.0 / 21.0, 1e-14);
  EXPECT_NEAR(result.marginals[0][1], 15.0 / 21.0, 1e-14);
  EXPECT_NEAR(result.marginals[1][0], 5.0 / 21.0, 1e-14);
  EXPECT_NEAR(result.marginals[1][1], 7.0 / 21.0, 1e-14);
  EXPECT_NEAR(result.marginals[1][2], 9.0 / 21.0, 1e-14);
}

TEST(Enumeration, TablesAndFunctionsAgree) {
  testing::RandomModelOptions options{.min_arity = 0, .zero_probability = 0.05};
  Random tables(11);
  Random functions(11);
  const FactorGraph with_tables = testing::random_model(tables, options);
  options.function_probability = 1.0;
  const FactorGraph with_functions = testing::random_model(functions, options);
  ASSERT_TRUE(with_tables.has_only_tables());
  ASSERT_FALSE(with_functions.has_only_tables());
  const Enumeration expected = enumerate(with_tables);
  ASSERT_TRUE(std::isfinite(expected.log_z));
  EXPECT_EQ(enumerate(with_functions).log_z, expected.log_z);
  EXPECT_EQ(enumerate(with_functions).log_probs, expected.log_probs);
}

TEST(Enumeration, ConfigurationsAreNumberedLastVariableFastest) {
  FactorGraph graph = testing::variables({2, 1, 3});
  EXPECT_EQ(configuration_at(graph, 0), (Assignment{0, 0, 0}));
  EXPECT_EQ(configuration_at(graph, 1), (Assignment{0, 0, 1}));
  EXPECT_EQ(configuration_at(graph, 3), (Assignment{1, 0, 0}));
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(configuration_index(graph, configuration_at(graph, i)), i);
}

TEST(Enumeration, ModelWithoutVariablesHasOneConfiguration) {
  FactorGraph graph;
  graph.add_table({}, {2.5});
  const Enumeration result = enumerate(graph);
  EXPECT_EQ(result.log_z, 2.5);
  EXPECT_EQ(result.log_probs, std::vector<double>{0.0});
}

TEST(Enumeration, ZeroDistributionHasZeroMarginals) {
  FactorGraph graph = two_variables();
  graph.add_table({0}, {kNegInf, kNegInf});
  const Enumeration result = enumerate(graph);
  EXPECT_EQ(result.log_z, kNegInf);
  EXPECT_EQ(result.log_probs, std::vector<double>(6, kNegInf));
  EXPECT_EQ(result.marginals[1], std::vector<double>(3, 0.0));
}

TEST(Enumeration, RefusesLargeModelsWithTheirSize) {
  FactorGraph graph = testing::variables(100, 2);
  testing::expect_error(ErrorCode::kResource, "2^100.0", [&] { enumerate(graph); });
}

}  // namespace
}  // namespace treesample
