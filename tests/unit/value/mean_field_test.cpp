#include <gtest/gtest.h>

#include <cmath>

#include "support/random_models.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/value/leaf_value.hpp"

namespace treesample {
namespace {

using testing::random_model;

double root_elbo(const FactorGraph& graph, const LocalDistributions& local) {
  const SearchSpace space = make_search_space(graph, search_order(graph, SpaceKind::kAndOr, {}), SpaceKind::kAndOr);
  const auto leaf = product_value(graph, space, local);
  double sum = space.log_constant;
  for (const int root : space.roots) sum += leaf->log_value(root, Assignment(graph.num_variables(), -1));
  return sum;
}

// Every update is the maximum over one variable's distribution. The start is not uniform, so a result below
// the uniform distribution's is possible where nothing can be gained; it cannot be below its start's.
TEST(MeanField, EverySweepRaisesTheElboOfModelsWithoutZeros) {
  for (int trial = 0; trial < 40; ++trial) {
    Random random(trial, "mean field test");
    const FactorGraph graph = random_model(random, {.min_arity = trial % 2, .scale = 0.5 + trial % 5});
    double before = root_elbo(graph, mean_field(graph, 0, trial));
    for (const int sweeps : {1, 2, 3, 5, 10}) {
      const double now = root_elbo(graph, mean_field(graph, sweeps, trial));
      EXPECT_GE(now, before - 1e-6);  // states below 1e-9 are taken out of the result
      before = now;
    }
    EXPECT_GE(before, root_elbo(graph, uniform_distributions(graph)));
  }
}

TEST(MeanField, IsExactForIndependentVariables) {
  FactorGraph graph = testing::variables({2, 3});
  graph.add_table({0}, {0.0, std::log(3.0)});
  graph.add_table({1}, {0.0, kNegInf, std::log(4.0)});
  const LocalDistributions local = mean_field(graph, 1, 0);
  EXPECT_NEAR(local[0][1], 0.75, 1e-12);
  EXPECT_NEAR(local[1][0], 0.2, 1e-12);
  EXPECT_EQ(local[1][1], 0.0);
  EXPECT_NEAR(root_elbo(graph, local), std::log(4.0) + std::log(5.0), 1e-12);
}

// Two variables that must be equal: uniform has ELBO -inf, mean field falls to one side.
TEST(MeanField, FindsAPossibleSideOfASymmetricModel) {
  FactorGraph graph = testing::variables({2, 2});
  graph.add_table({0, 1}, {0.0, kNegInf, kNegInf, 0.0});
  EXPECT_EQ(root_elbo(graph, uniform_distributions(graph)), kNegInf);
  EXPECT_NEAR(root_elbo(graph, mean_field(graph, 20, 0)), 0.0, 1e-6);
}

TEST(MeanField, EndsAfterTheSweepWhenAsked) {
  Random random(5);
  const FactorGraph graph = random_model(random, {.min_states = 2});
  EXPECT_EQ(mean_field(graph, 5, 7, [] { return true; }), mean_field(graph, 1, 7));
  EXPECT_NE(mean_field(graph, 5, 7), mean_field(graph, 1, 7));
}

TEST(MeanField, SameSeedGivesTheSameBits) {
  Random random(4);
  const FactorGraph graph = random_model(random, {.min_states = 2});
  EXPECT_EQ(mean_field(graph, 5, 7), mean_field(graph, 5, 7));
}

}  // namespace
}  // namespace treesample
