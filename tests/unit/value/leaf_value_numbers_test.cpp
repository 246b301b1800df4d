// Leaf values that are sums of large numbers.
#include <gtest/gtest.h>

#include <cmath>

#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/math/random.hpp"
#include "treesample/value/leaf_value.hpp"

namespace treesample {
namespace {

// Terms that cancel leave a small sum with the rounding errors of large ones; bounds must be that wide.
TEST(MaximaLeafValue, HoldsWhereLargeTermsCancel) {
  for (int trial = 0; trial < 200; ++trial) {
    Random random(trial, "cancelling");
    FactorGraph graph = testing::variables(3, 1);
    long double exact = 0.0L;
    for (int m = 0; m < 12; ++m) {
      const double size = trial % 2 == 0 ? 1e12 : 1.6e7;  // what tables and functions may have
      const double value = (m < 6 ? size : -size) * (1.0 + 1e-6 * random.normal());
      exact += static_cast<long double>(value);
      const std::vector<int> scope = {m % 3};
      if (trial % 2 == 0) {
        graph.add_table(scope, {value});
      } else {
        graph.add_factor(Factor::function(
            scope, [value](std::span<const int>) { return value; }, value));
      }
    }
    const SearchSpace space = make_search_space(graph, std::vector<int>{0, 1, 2}, SpaceKind::kTree);
    EXPECT_GE(static_cast<long double>(maxima_value(graph, space)->log_value(0, Assignment{-1, -1, -1})), exact);
    if (trial % 2 != 0) continue;
    const auto lower = product_value(graph, space, uniform_distributions(graph));
    EXPECT_LE(static_cast<long double>(lower->log_value(0, Assignment{-1, -1, -1})), exact);
  }
}

// The same for the terms of one mean, and for the entropies of many variables.
TEST(ProductLeafValue, HoldsWhereLargeTermsCancelAndForManyVariables) {
  for (int trial = 0; trial < 200; ++trial) {
    Random random(trial, "cancelling");
    FactorGraph graph = testing::variables({64});
    std::vector<double> values(64);
    long double sum = 0.0L;
    for (std::size_t a = 0; a < values.size(); ++a) {
      values[a] = (a < 32 ? 1e12 : -1e12) * (1.0 + 1e-6 * random.normal());
      sum += static_cast<long double>(values[a]);
    }
    graph.add_table({0}, values);
    const SearchSpace space = make_search_space(graph, std::vector<int>{0}, SpaceKind::kTree);
    const auto lower = product_value(graph, space, uniform_distributions(graph));
    EXPECT_LE(static_cast<long double>(lower->log_value(0, Assignment{-1})), sum / 64.0L + std::log(64.0L));
  }
  FactorGraph free = testing::variables(4000, 3);
  const std::vector<int> order = testing::integers(4000);
  const SearchSpace space = make_search_space(free, order, SpaceKind::kTree);
  const Assignment none(4000, -1);
  const long double exact = 4000.0L * std::log(3.0L);
  const auto lower = product_value(free, space, uniform_distributions(free));
  EXPECT_LE(static_cast<long double>(lower->log_value(0, none)), exact);
  EXPECT_GE(static_cast<long double>(maxima_value(free, space)->log_value(0, none)), exact);
}

TEST(LeafValueNumbers, DistributionsOfAProductAddUpToOne) {
  FactorGraph graph = testing::variables({2, 2});
  graph.add_table({0, 1}, {10.0, 10.0, 10.0, 10.0});
  const SearchSpace space = make_search_space(graph, std::vector<int>{0, 1}, SpaceKind::kAndOr);
  EXPECT_THROW(product_value(graph, space, {{1.0, 1.0}, {0.5, 0.5}}), Error);
  EXPECT_THROW(product_value(graph, space, {{1.5, -0.5}, {0.5, 0.5}}), Error);
  EXPECT_THROW(product_value(graph, space, {{NAN, 0.5}, {0.5, 0.5}}), Error);
  EXPECT_NO_THROW(product_value(graph, space, {{1.0, 0.0}, {1.0 / 3.0, 2.0 / 3.0}}));
}

}  // namespace
}  // namespace treesample
