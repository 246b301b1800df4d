#include "treesample/families/ising.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "unit/families/log_z.hpp"

namespace treesample {
namespace {

TEST(Ising, TablesAreExponentsOfSpins) {
  const FamilyInstance model =
      make_ising({.n = 1, .columns = 2, .coupling = 0.7, .coupling_normal = 0, .field = 0.2, .field_normal = 0}, 0);
  EXPECT_EQ(model.factor_kinds, (std::vector<std::string>{"pair", "unary", "unary"}));
  EXPECT_EQ(model.graph.factor(0).log_values(), (std::vector<double>{0.7, -0.7, -0.7, 0.7}));
  EXPECT_EQ(model.graph.factor(1).log_values(), (std::vector<double>{-0.2, 0.2}));
}

TEST(Ising, JoinsEachNeighbouringPairOnce) {
  const auto num_pairs = [](int rows, int columns, bool is_torus) {
    const FactorGraph graph =
        make_ising({.n = rows, .columns = columns, .torus = is_torus, .field_normal = 0}, 0).graph;
    EXPECT_EQ(graph.num_variables(), rows * columns);
    std::set<std::set<int>> pairs;
    for (const Factor& factor : graph.factors()) pairs.insert({factor.scope().begin(), factor.scope().end()});
    EXPECT_EQ(static_cast<int>(pairs.size()), graph.num_factors());
    return graph.num_factors();
  };
  EXPECT_EQ(num_pairs(3, 4, false), 3 * 3 + 2 * 4);
  EXPECT_EQ(num_pairs(3, 4, true), 2 * 3 * 4);
  EXPECT_EQ(num_pairs(2, 4, true), 2 * 4 + 4);  // no second edge along the short side
  EXPECT_EQ(num_pairs(4, 2, true), 2 * 4 + 4);
  EXPECT_EQ(num_pairs(1, 1, true), 0);
}

TEST(Ising, ColumnsDefaultToRows) { EXPECT_EQ(make_ising({.n = 7}, 0).graph.num_variables(), 49); }

// A ring of n spins without field: Z = (2 cosh J)^n + (2 sinh J)^n, by its transfer matrix.
TEST(Ising, RingHasTheTextbookPartitionFunction) {
  const FactorGraph graph =
      make_ising({.n = 1, .columns = 8, .torus = true, .coupling = 0.6, .coupling_normal = 0, .field_normal = 0}, 0)
          .graph;
  const double expected = std::log(std::pow(2 * std::cosh(0.6), 8) + std::pow(2 * std::sinh(0.6), 8));
  EXPECT_NEAR(testing::log_z(graph), expected, 1e-12);
}

// 19,800 couplings: standard errors 0.0071 s of the mean and 0.01 s^2 of a normal variance, less for a uniform one.
TEST(Ising, NoiseHasTheGivenMoments) {
  const auto check = [](const IsingOptions& options, double mean, double variance, double limit) {
    double sum = 0.0;
    double sum_of_squares = 0.0;
    const FactorGraph graph = make_ising(options, 3).graph;
    ASSERT_EQ(graph.num_factors(), 19'800);
    for (const Factor& factor : graph.factors()) {
      const double coupling = factor.log_values()[0];
      sum += coupling;
      sum_of_squares += (coupling - mean) * (coupling - mean);
      ASSERT_LE(std::abs(coupling - mean), limit);
    }
    EXPECT_NEAR(sum / 19'800, mean, 0.03 * std::sqrt(variance));
    EXPECT_NEAR(sum_of_squares / 19'800, variance, 0.04 * variance);
  };
  check({.n = 100, .coupling = 0.5, .coupling_normal = 2.0, .field_normal = 0}, 0.5, 4.0, 12.0);
  check({.n = 100, .coupling = -1.0, .coupling_normal = 0, .coupling_uniform = 3.0, .field_normal = 0}, -1.0, 3.0, 3.0);
}

TEST(Ising, FieldsDoNotShiftCouplings) {
  const FactorGraph with = make_ising({.n = 3, .field_normal = 1}, 4).graph;
  const FactorGraph without = make_ising({.n = 3, .field_normal = 0}, 4).graph;
  ASSERT_EQ(with.num_factors(), without.num_factors() + 9);
  for (int m = 0; m < without.num_factors(); ++m) {
    EXPECT_EQ(with.factor(m).log_values(), without.factor(m).log_values());
  }
}

}  // namespace
}  // namespace treesample
