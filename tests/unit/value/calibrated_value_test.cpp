#include "treesample/value/calibrated_value.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "treesample/math/log_domain.hpp"
#include "treesample/space/search_space.hpp"

namespace treesample {
namespace {

const double kLog2 = std::log(2.0);
const double kLog3 = std::log(3.0);

// x0 -- x1 and x0 -- x2 with 2, 3 and 2 states.
FactorGraph small_star() {
  FactorGraph graph;
  for (const int num_states : {2, 3, 2}) graph.add_variable(num_states);
  graph.add_table({0, 1}, std::vector<double>(6, 0.0));
  graph.add_table({0, 2}, std::vector<double>(4, 0.0));
  return graph;
}

SearchSpace space_of(SpaceKind kind) { return make_search_space(small_star(), std::vector<int>{0, 1, 2}, kind); }

TEST(CalibratedValue, IsThePapersConstantBeforeAnythingIsSeen) {
  const CalibratedValue value(space_of(SpaceKind::kTree));
  EXPECT_DOUBLE_EQ(value.log_value(0, {}), 2 * kLog2 + kLog3);
  EXPECT_DOUBLE_EQ(value.log_elbo(1), kLog2 + kLog3);
  EXPECT_EQ(value.num_known_levels(), 0);
}

TEST(CalibratedValue, AddsLogMeanExpAndMeanOfTheRewardsOfEachLevelBelow) {
  CalibratedValue value(space_of(SpaceKind::kTree));
  value.add(1, -1.0);
  value.add(1, -3.0);
  value.add(2, 4.0);
  const double log_mean_exp = std::log((std::exp(-1.0) + std::exp(-3.0)) / 2.0);
  EXPECT_NEAR(value.log_value(1, {}), kLog3 + kLog2 + log_mean_exp + 4.0, 1e-12);
  EXPECT_NEAR(value.log_elbo(1), kLog3 + kLog2 - 2.0 + 4.0, 1e-12);
  EXPECT_NEAR(value.log_elbo(2), kLog2 + 4.0, 1e-12);
  EXPECT_EQ(value.num_known_levels(), 2);
}

TEST(CalibratedValue, AddsUpOverTheComponentsOfABranchingSpace) {
  CalibratedValue value(space_of(SpaceKind::kAndOr));
  value.add(1, -1.0);
  value.add(2, 4.0);
  EXPECT_NEAR(value.log_elbo(1), kLog3 - 1.0, 1e-12);
  EXPECT_NEAR(value.log_elbo(0), kLog2 + (kLog3 - 1.0) + (kLog2 + 4.0), 1e-12);
}

TEST(CalibratedValue, ImpossibleStatesCountAsZerosAndMakeNoLevelKnown) {
  CalibratedValue value(space_of(SpaceKind::kTree));
  value.add(2, kNegInf);
  EXPECT_EQ(value.num_known_levels(), 0);
  EXPECT_NEAR(value.log_value(2, {}), kLog2, 1e-12);
  value.add(2, -1.0);
  EXPECT_EQ(value.num_known_levels(), 1);
  EXPECT_NEAR(value.log_value(2, {}), kLog2 + std::log(std::exp(-1.0) / 2.0), 1e-12);
  EXPECT_NEAR(value.log_elbo(2), kLog2 - 1.0 - kLog2, 1e-12);
}

TEST(CalibratedValue, IsUniformBelow) {
  const CalibratedValue value(space_of(SpaceKind::kAndOr));
  EXPECT_TRUE(value.is_uniform());
  Assignment x(3, -1);
  Random random(1);
  EXPECT_NEAR(value.sample_below(0, x, random), -2 * kLog2 - kLog3, 1e-12);
  for (int v = 0; v < 3; ++v) EXPECT_TRUE(x[v] >= 0 && x[v] < (v == 1 ? 3 : 2));
  EXPECT_NEAR(value.log_prob_below(1, x), -kLog3, 1e-12);
}

}  // namespace
}  // namespace treesample
