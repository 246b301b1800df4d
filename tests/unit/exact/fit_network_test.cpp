#include "treesample/exact/fit_network.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// a -> b, of 2 and 3 states.
FactorGraph pair(const std::array<double, 2>& a, const std::array<double, 6>& b) {
  FactorGraph graph;
  graph.add_variable(2);
  graph.add_variable(3);
  std::vector<double> first, second;
  for (const double p : a) first.push_back(p > 0.0 ? std::log(p) : kNegInf);
  for (const double p : b) second.push_back(p > 0.0 ? std::log(p) : kNegInf);
  graph.add_table({0}, first);
  graph.add_table({0, 1}, second);
  return graph;
}

const std::vector<int> kRows = {0, 1, 0, 1, 1, 2, -1, 0, 1, -1, -1, 2, 0, 0, 1, 1};

// Expectation and maximisation by hand, of the pair.
void by_hand(std::array<double, 2>& a, std::array<double, 6>& b, double prior, int iterations) {
  for (int t = 0; t < iterations; ++t) {
    std::array<double, 2> count_a{prior, prior};
    std::array<double, 6> count_b{};
    for (std::size_t e = 0; e < 6; ++e) count_b[e] = b[e] > 0.0 ? prior : 0.0;
    for (std::size_t r = 0; r < kRows.size(); r += 2) {
      std::array<double, 6> joint{};
      double sum = 0.0;
      for (int x = 0; x < 2; ++x) {
        for (int y = 0; y < 3; ++y) {
          const bool agrees = (kRows[r] < 0 || kRows[r] == x) && (kRows[r + 1] < 0 || kRows[r + 1] == y);
          joint[3 * x + y] = agrees ? a[x] * b[3 * x + y] : 0.0;
          sum += joint[3 * x + y];
        }
      }
      for (int e = 0; e < 6; ++e) {
        count_a[e / 3] += joint[e] / sum;
        count_b[e] += joint[e] / sum;
      }
    }
    for (int x = 0; x < 2; ++x) {
      a[x] = count_a[x] / (count_a[0] + count_a[1]);
      const double row = count_b[3 * x] + count_b[3 * x + 1] + count_b[3 * x + 2];
      for (int y = 0; y < 3; ++y) b[3 * x + y] = count_b[3 * x + y] / row;
    }
  }
}

TEST(FitNetwork, ExpectationAndMaximisationAsByHand) {
  for (const double prior : {0.0, 0.5}) {
    std::array<double, 2> a{0.4, 0.6};
    std::array<double, 6> b{0.3, 0.7, 0.0, 0.2, 0.3, 0.5};
    const FactorGraph graph = pair(a, b);
    const Fitted fitted = fit_network(graph, kRows, {}, {.prior = prior, .iterations = 7, .tolerance = 0.0});
    by_hand(a, b, prior, 7);
    ASSERT_EQ(fitted.log_likelihoods.size(), 8U);
    for (int x = 0; x < 2; ++x) EXPECT_NEAR(std::exp(fitted.graph.factor(0).log_values()[x]), a[x], 1e-12);
    for (int e = 0; e < 6; ++e) EXPECT_NEAR(std::exp(fitted.graph.factor(1).log_values()[e]), b[e], 1e-12);
    for (std::size_t t = 1; t < fitted.log_likelihoods.size(); ++t) {
      EXPECT_GE(fitted.log_likelihoods[t], fitted.log_likelihoods[t - 1] - 1e-12);
    }
    EXPECT_EQ(fitted.graph.factor(1).log_values()[2], kNegInf) << "what is impossible stays so";
  }
}

TEST(FitNetwork, ItConvergesAndLearnsOnlyItsParameters) {
  const FactorGraph graph = pair({0.4, 0.6}, {0.3, 0.7, 0.0, 0.2, 0.3, 0.5});
  const Fitted fitted = fit_network(graph, kRows, {}, {.parameters = {1}, .tolerance = 1e-6});
  EXPECT_TRUE(fitted.is_converged);
  EXPECT_NEAR(std::exp(fitted.graph.factor(0).log_values()[0]), 0.4, 1e-15);
  ASSERT_EQ(fitted.counts.size(), 1U);
  EXPECT_EQ(fitted.counts[0].size(), 6U);
}

TEST(FitNetwork, SharedTablesStayTheSame) {
  FactorGraph chain;
  for (int v = 0; v < 3; ++v) chain.add_variable(2);
  chain.add_table({0}, {std::log(0.5), std::log(0.5)});
  for (int v = 0; v < 2; ++v) {
    chain.add_table({v, v + 1}, {std::log(0.6), std::log(0.4), std::log(0.3), std::log(0.7)});
  }
  const std::vector<int> rows = {0, 0, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0};  // without missing values: counts of both
  const Fitted fitted = fit_network(chain, rows, {}, {.shared = {{1, 2}}});
  const auto first = fitted.graph.factor(1).log_values(), second = fitted.graph.factor(2).log_values();
  for (int e = 0; e < 4; ++e) EXPECT_EQ(first[e], second[e]);
  EXPECT_NEAR(std::exp(first[0]), 3.0 / 5.0, 1e-12);  // from 0: to 0 three times, to 1 twice
  EXPECT_NEAR(std::exp(first[3]), 1.0, 1e-12);        // from 1: always to 1
}

TEST(FitNetwork, MistakesAreNamed) {
  const FactorGraph graph = pair({0.4, 0.6}, {0.3, 0.7, 0.0, 0.2, 0.3, 0.5});
  EXPECT_THROW(fit_network(graph, kRows, {}, {.prior = -1.0}), Error);
  EXPECT_THROW(fit_network(graph, kRows, {}, {.iterations = 0}), Error);
  EXPECT_THROW(fit_network(graph, kRows, {}, {.parameters = {1}, .shared = {{0, 1}}}), Error);
  EXPECT_THROW(fit_network(graph, kRows, {}, {.shared = {{0, 1}}}), Error);
  FactorGraph ising;
  for (int v = 0; v < 2; ++v) ising.add_variable(2);
  ising.add_table({0, 1}, {0.0, 0.5, 0.5, 0.0});
  EXPECT_THROW(fit_network(ising, std::vector<int>{0, 1}), Error);
}

}  // namespace
}  // namespace treesample
