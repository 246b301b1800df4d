// Derivatives of Z with respect to every table entry, against sums over all configurations.
#include "treesample/exact/derivatives.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// dZ / dtheta by its definition: the product of all other factors, summed over the configurations that agree with the
// entry.
std::vector<std::vector<double>> by_definition(const FactorGraph& graph, const Evidence& evidence) {
  std::vector<std::vector<double>> sums;
  for (const Factor& factor : graph.factors()) sums.emplace_back(factor.log_values().size(), 0.0);
  const std::size_t count = enumerate(graph).log_probs.size();
  const Assignment observed = observed_states(graph, evidence);
  for (std::size_t i = 0; i < count; ++i) {
    const Assignment x = configuration_at(graph, i);
    bool agrees = true;
    for (std::size_t v = 0; v < x.size(); ++v) agrees = agrees && (observed[v] < 0 || observed[v] == x[v]);
    if (!agrees) continue;
    for (int m = 0; m < graph.num_factors(); ++m) {
      double others = 0.0;
      for (int other = 0; other < graph.num_factors(); ++other) {
        if (other != m) others += graph.log_value(other, x);
      }
      sums[m][table_index(graph, graph.factor(m), x)] += std::exp(others);
    }
  }
  return sums;
}

TEST(TableDerivatives, AreTheSumsOfAllOtherFactors) {
  Random random(1, "derivatives");
  for (int i = 0; i < 60; ++i) {
    const FactorGraph graph = testing::random_model(random, {.num_variables = 1 + i % 7,
                                                             .num_factors = 2 + i % 9,
                                                             .min_arity = 0,
                                                             .zero_probability = i % 3 == 0 ? 0.3 : 0.0});
    Evidence evidence;
    if (i % 2 == 1) evidence = {{0, graph.num_states(0) - 1}};
    const TableDerivatives found = table_derivatives(graph, evidence);
    const std::vector<std::vector<double>> truth = by_definition(graph, evidence);
    ASSERT_EQ(found.log_derivatives.size(), truth.size());
    for (std::size_t m = 0; m < truth.size(); ++m) {
      ASSERT_EQ(found.log_derivatives[m].size(), truth[m].size());
      for (std::size_t e = 0; e < truth[m].size(); ++e) {
        EXPECT_NEAR(std::exp(found.log_derivatives[m][e]), truth[m][e], 1e-9 * (1.0 + truth[m][e])) << i << " " << m;
      }
      // Z is linear in the entries of one table.
      double z = 0.0;
      for (std::size_t e = 0; e < truth[m].size(); ++e) {
        const double log_value = graph.factor(static_cast<int>(m)).log_values()[e];
        if (log_value != kNegInf) z += std::exp(log_value + found.log_derivatives[m][e]);
      }
      EXPECT_NEAR(z, std::exp(found.log_z), 1e-9 * (1.0 + z)) << i << " " << m;
    }
  }
}

TEST(TableDerivatives, FactorsMayShareTheirValues) {
  FactorGraph graph = testing::variables({2});
  const Factor factor = Factor::table({0}, {0.0, std::log(2.0)});
  graph.add_factor(factor);
  graph.add_factor(factor);
  const TableDerivatives derivatives = table_derivatives(graph);
  for (const std::vector<double>& of_factor : derivatives.log_derivatives) {
    EXPECT_NEAR(of_factor[0], 0.0, 1e-12);
    EXPECT_NEAR(of_factor[1], std::log(2.0), 1e-12);
  }
}

TEST(TableDerivatives, RefuseFunctionsAndTooLittleMemory) {
  FactorGraph graph = testing::variables({4, 4});
  graph.add_table({0, 1}, std::vector<double>(16, 0.0));
  EXPECT_THROW(table_derivatives(graph, {}, {.bytes = 8}), Error);
  EXPECT_THROW(table_derivatives(graph, {{5, 0}}), Error);
  graph.add_factor(Factor::function({0}, [](std::span<const int>) { return 0.0; }));
  EXPECT_THROW(table_derivatives(graph), Error);
}

// Each of these takes the sum of all others: a pass over all for each of them would take an hour.
TEST(TableDerivatives, ManyConstantsAndComponentsTakeNoLonger) {
  FactorGraph graph;
  for (int v = 0; v < 20'000; ++v) {
    graph.add_variable(2);
    graph.add_table({v}, {0.0, std::log(3.0)});
  }
  for (int m = 0; m < 100'000; ++m) graph.add_table({}, {m == 7 ? 2.0 : 0.0});
  const TableDerivatives found = table_derivatives(graph);
  EXPECT_NEAR(found.log_z, 2.0 + 20'000 * std::log(4.0), 1e-6);
  EXPECT_NEAR(found.log_derivatives[20'007][0], 20'000 * std::log(4.0), 1e-6);
  EXPECT_NEAR(found.log_derivatives[20'008][0], found.log_z, 1e-6);
  EXPECT_NEAR(found.log_derivatives[3][1], 2.0 + 19'999 * std::log(4.0), 1e-6);
}

}  // namespace
}  // namespace treesample
