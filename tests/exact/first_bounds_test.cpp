#include "treesample/search/first_bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_models.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/exact/find_configuration.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

TEST(FirstBounds, ContainLogZ) {
  for (int trial = 0; trial < 300; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    const FactorGraph graph = testing::random_model(random, {.num_variables = 1 + trial % 6,
                                                             .num_factors = trial % 9,
                                                             .min_arity = trial % 2,
                                                             .zero_probability = 0.2 * (trial % 3),
                                                             .function_probability = trial % 5 == 0 ? 0.3 : 0.0,
                                                             .scale = trial % 4 == 0 ? 1e6 : 1.0});
    const double log_z = enumerate(graph).log_z;
    std::optional<Configuration> known;
    if (graph.has_only_tables()) {
      const FindResult found = find_configuration(graph);
      if (found.outcome == FindOutcome::kFound) known = found.configuration;
    }
    const LogBounds without = first_bounds(graph);
    const LogBounds with = first_bounds(graph, known);
    EXPECT_LE(without.lower, log_z) << trial;
    EXPECT_GE(without.upper, log_z) << trial;
    EXPECT_LE(with.lower, log_z) << trial;
    EXPECT_EQ(with.upper, without.upper);
    if (known) {
      EXPECT_GE(with.lower, known->log_density - 1e-9 * (1.0 + std::abs(known->log_density))) << trial;
    }
  }
}

// One configuration with entries that cancel: both bounds equal its value up to rounding, each on its own side.
TEST(FirstBounds, IncludeRounding) {
  FactorGraph graph = testing::variables({1});
  for (int m = 0; m < 1000; ++m) graph.add_table({0}, {m % 2 == 0 ? 1.6e7 / 3.0 : -1.6e7 / 3.0});
  graph.add_table({0}, {0.125});
  const LogBounds bounds = first_bounds(graph, Configuration{{0}, 0.125});
  EXPECT_LE(bounds.lower, 0.125);
  EXPECT_GE(bounds.upper, 0.125);
}

TEST(FirstBounds, OfFunctionsWithoutMaximumAreInfinite) {
  FactorGraph graph = testing::variables({2});
  graph.add_factor(Factor::function({0}, [](std::span<const int>) { return 5.0; }));
  EXPECT_EQ(first_bounds(graph).upper, HUGE_VAL);
  EXPECT_EQ(first_bounds(graph).lower, kNegInf);
}

}  // namespace
}  // namespace treesample
