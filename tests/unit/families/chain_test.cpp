#include "treesample/families/chain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "families/gaussian_process.hpp"
#include "treesample/error.hpp"
#include "treesample/families/permuted_chain.hpp"
#include "treesample/math/random.hpp"
#include "unit/families/log_z.hpp"

namespace treesample {
namespace {

TEST(Chain, HasUnaryThenPairFactors) {
  const FamilyInstance model = make_chain({.n = 4, .k = 3}, 0);
  EXPECT_EQ(model.factor_kinds, (std::vector<std::string>{"unary", "unary", "unary", "unary", "pair", "pair", "pair"}));
  EXPECT_EQ(model.graph.factor(2).scope(), (std::vector<int>{2}));
  EXPECT_EQ(model.graph.factor(5).scope(), (std::vector<int>{1, 2}));
}

TEST(Chain, PairPotentialIsLinearInTheDistanceOnTheTorus) {
  const FamilyInstance model = make_chain({.n = 2, .k = 5, .pair_slope = -2.5, .pair_offset = 1.0}, 0);
  const std::vector<double>& pair = model.graph.factor(2).log_values();
  EXPECT_EQ(std::vector<double>(pair.begin(), pair.begin() + 5), (std::vector<double>{1.0, -1.5, -4.0, -4.0, -1.5}));
  EXPECT_EQ(std::vector<double>(pair.begin() + 15, pair.begin() + 20),
            (std::vector<double>{-4.0, -4.0, -1.5, 1.0, -1.5}));
}

TEST(Chain, OneVariableAndOneStateAreLegal) {
  EXPECT_EQ(make_chain({.n = 1, .k = 5}, 0).graph.num_factors(), 1);
  EXPECT_EQ(make_chain({.n = 3, .k = 1}, 0).graph.factor(4).log_values(), (std::vector<double>{0.0}));
}

TEST(Chain, ScaleIsAStandardDeviationUnlessReadAsVariance) {
  const auto first_unary = [](const ChainOptions& options) {
    return make_chain(options, 9).graph.factor(0).log_values();
  };
  const std::vector<double> as_stddev = first_unary({.scale = 0.5});
  const std::vector<double> as_variance = first_unary({.scale = 0.5, .scale_is_variance = true});
  for (int a = 0; a < 5; ++a) EXPECT_NEAR(as_variance[a], as_stddev[a] * std::sqrt(2.0), 1e-12);
}

// Covariances with the centre (3, 2) over 20,000 draws. A sample covariance of variables with variance 0.25
// has a standard error of at most 0.25 sqrt(2 / 20000) = 0.0025; the tolerance is 4.5 of them, for 50 cells
// a false alarm in 3,000 (the seed is fixed).
TEST(Chain, UnaryPotentialsHaveTheKernelsCovariance) {
  constexpr int kDraws = 20'000;
  std::vector<double> covariance(50, 0.0);
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const FactorGraph graph = make_chain({}, 2, i).graph;
    const double centre = graph.factor(3).log_values()[2];
    for (int cell = 0; cell < 50; ++cell) {
      covariance[cell] += centre * graph.factor(cell / 5).log_values()[cell % 5] / kDraws;
    }
  }
  for (int cell = 0; cell < 50; ++cell) {
    const int squared_distance = (cell / 5 - 3) * (cell / 5 - 3) + (cell % 5 - 2) * (cell % 5 - 2);
    EXPECT_NEAR(covariance[cell], 0.25 * std::exp(-0.5 * squared_distance), 0.0113) << cell;
  }
}

TEST(Chain, WideKernelsAndLongChainsStayFinite) {
  Random random(1);
  for (const double bandwidth : {0.01, 1.0, 5.0, 50.0}) {
    for (const double value : draw_gaussian_process(600, 5, bandwidth, random)) {
      ASSERT_TRUE(std::abs(value) < 10.0) << bandwidth;
    }
  }
  // With a bandwidth far above the grid all points move together.
  const std::vector<double> flat = draw_gaussian_process(2, 2, 1000.0, random);
  EXPECT_NEAR(flat[0], flat[3], 0.02);
}

TEST(Chain, RefusesBadOptions) {
  EXPECT_THROW(make_chain({.n = 0}, 0), Error);
  EXPECT_THROW(make_chain({.k = 0}, 0), Error);
  EXPECT_THROW(make_chain({.bandwidth = 0.0}, 0), Error);
  EXPECT_THROW(make_chain({.pair_slope = std::numeric_limits<double>::infinity()}, 0), Error);
}

TEST(PermutedChain, RowsSumToOneAndZIsK) {
  for (std::uint64_t i = 0; i < 20; ++i) {
    const FactorGraph graph = make_permuted_chain({.n = 6, .k = 4}, 1, i).graph;
    ASSERT_EQ(graph.num_factors(), 5);
    for (const Factor& factor : graph.factors()) {
      for (int row = 0; row < 4; ++row) {
        double sum = 0.0;
        for (int a = 0; a < 4; ++a) sum += std::exp(factor.log_values()[row * 4 + a]);
        EXPECT_NEAR(sum, 1.0, 1e-12);
      }
    }
    EXPECT_NEAR(testing::log_z(graph), std::log(4.0), 1e-12);
  }
}

TEST(PermutedChain, FactorsFollowOnePermutation) {
  const FactorGraph graph = make_permuted_chain({.n = 30}, 4).graph;
  std::vector<int> sigma = {graph.factor(0).scope()[0]};
  for (const Factor& factor : graph.factors()) {
    EXPECT_EQ(factor.scope()[0], sigma.back());
    sigma.push_back(factor.scope()[1]);
  }
  EXPECT_FALSE(std::is_sorted(sigma.begin(), sigma.end()));
  std::sort(sigma.begin(), sigma.end());
  for (int v = 0; v < 30; ++v) EXPECT_EQ(sigma[v], v);
}

TEST(PermutedChain, FirstFactorMakesItADistribution) {
  const FamilyInstance model = make_permuted_chain({.first_factor = true}, 3);
  EXPECT_EQ(model.factor_kinds.back(), "unary");
  EXPECT_EQ(model.graph.factor(9).scope()[0], model.graph.factor(0).scope()[0]);
  EXPECT_NEAR(testing::log_z(model.graph), 0.0, 1e-12);
}

TEST(PermutedChain, TablesCanBeProbabilities) {
  const std::vector<double> logs = make_permuted_chain({}, 3).graph.factor(4).log_values();
  const std::vector<double> plain = make_permuted_chain({.log_tables = false}, 3).graph.factor(4).log_values();
  for (int i = 0; i < 25; ++i) EXPECT_NEAR(plain[i], std::exp(logs[i]), 1e-15);
}

// The variance of an entry of a symmetric Dirichlet over k states is (k-1) / (k^2 (k a + 1)). Over 45,000 rows the
// relative error of the sample variance is about 1 % (kurtosis below 6): four standard errors are 4 %.
TEST(PermutedChain, EntriesHaveTheDirichletsVariance) {
  for (const double concentration : {0.5, 1.0, 4.0}) {
    double sum = 0.0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      const FactorGraph graph = make_permuted_chain({.concentration = concentration}, 8, i).graph;
      for (const Factor& factor : graph.factors()) {
        for (int row = 0; row < 5; ++row) sum += std::pow(std::exp(factor.log_values()[row * 5 + 1]) - 0.2, 2);
      }
    }
    const double variance = 4.0 / (25.0 * (5.0 * concentration + 1.0));
    EXPECT_NEAR(sum / 45'000 / variance, 1.0, 0.04) << concentration;
  }
}

TEST(PermutedChain, TinyConcentrationsGiveNoNaN) {
  const FactorGraph graph = make_permuted_chain({.concentration = 1e-3}, 0).graph;
  for (const Factor& factor : graph.factors()) {
    for (const double value : factor.log_values()) EXPECT_TRUE(value <= 1e-12);
  }
}

// A ring has one factor more, from the last variable to the first one, and leaves the others as they were.
TEST(Chain, RingClosesIt) {
  const FamilyInstance open = make_chain({.n = 4, .k = 3}, 7), ring = make_chain({.n = 4, .k = 3, .ring = true}, 7);
  ASSERT_EQ(ring.graph.num_factors(), open.graph.num_factors() + 1);
  EXPECT_EQ(ring.factor_kinds.back(), "pair");
  EXPECT_EQ(ring.graph.factor(7).scope(), (std::vector<int>{3, 0}));
  for (int m = 0; m < open.graph.num_factors(); ++m) {
    EXPECT_TRUE(std::ranges::equal(open.graph.factor(m).log_values(), ring.graph.factor(m).log_values()));
  }
  EXPECT_EQ(make_chain({.n = 2, .k = 3, .ring = true}, 7).graph.num_factors(), 3);  // the two are neighbours already
}

TEST(PermutedChain, RingClosesItAndAConstantIsAddedToEachTable) {
  const FamilyInstance open = make_permuted_chain({.n = 5, .k = 3}, 7);
  const FamilyInstance ring = make_permuted_chain({.n = 5, .k = 3, .ring = true, .pair_offset = 1.5}, 7);
  ASSERT_EQ(open.graph.num_factors(), 4);
  ASSERT_EQ(ring.graph.num_factors(), 5);
  EXPECT_EQ(ring.graph.factor(4).scope(),
            (std::vector<int>{open.graph.factor(3).scope()[1], open.graph.factor(0).scope()[0]}));
  for (int m = 0; m < 4; ++m) {
    for (int e = 0; e < 9; ++e) {
      EXPECT_NEAR(ring.graph.factor(m).log_values()[e], open.graph.factor(m).log_values()[e] + 1.5, 1e-12);
    }
  }
}

}  // namespace
}  // namespace treesample
