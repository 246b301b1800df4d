#include "treesample/value/possible_value.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/configurations.hpp"
#include "support/random_models.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/tree/tree_sample.hpp"
#include "treesample/value/mini_bucket.hpp"
#include "treesample/value/telescoped_value.hpp"

namespace treesample {
namespace {

SearchSpace tree_of(const FactorGraph& graph) {
  const std::vector<int> order = testing::integers(graph.num_variables());
  return make_search_space(graph, order, SpaceKind::kTree);
}

// Random models with zeros of which something is possible.
std::vector<FactorGraph> models_with_zeros(int count) {
  Random random(5);
  std::vector<FactorGraph> models;
  while (static_cast<int>(models.size()) < count) {
    FactorGraph graph =
        testing::random_model(random, {.num_variables = 7, .min_states = 2, .num_factors = 9, .zero_probability = 0.4});
    if (enumerate(graph).log_z != kNegInf) models.push_back(std::move(graph));
  }
  return models;
}

// The uniform leaf value, which knows no zeros, gives impossible configurations some of its mass; here none, and its
// probabilities still add up to 1.
TEST(PossibleValue, EverySampleIsPossible) {
  int num_impossible = 0;
  for (const FactorGraph& graph : models_with_zeros(40)) {
    const SearchSpace space = tree_of(graph);
    const auto uniform = std::make_shared<UniformValue>(space);
    const std::shared_ptr<const LeafValue> value = without_impossible(graph, space, uniform);
    ASSERT_NE(value, uniform);
    double sum = 0.0;
    testing::for_each_configuration(graph, [&](const Assignment& x) {
      const double probability = std::exp(value->log_prob_below(0, x));
      sum += probability;
      num_impossible += graph.log_density(x) == kNegInf ? 1 : 0;
      EXPECT_EQ(probability > 0.0, graph.log_density(x) != kNegInf);
    });
    EXPECT_NEAR(sum, 1.0, 1e-12);
  }
  EXPECT_GT(num_impossible, 1000);
}

// The whole way of a network through `infer`: corrections, telescoped values, a search that ends early.
TEST(PossibleValue, TelescopedSearchesGiveImpossibleConfigurationsNoMass) {
  for (const FactorGraph& graph : models_with_zeros(10)) {
    const SearchSpace space = tree_of(graph);
    const auto value = without_impossible(graph, space, std::make_shared<UniformValue>(space));
    const Telescoped made = telescope(graph, space, value, Budget(60, BudgetUnit::kReward), {.count = 8}, 1);
    TreeSearchOptions options{.known = made.known};
    const TreeSearchResult result =
        tree_sample(graph, space, {.estimate = made.value}, {.budget = 60 - made.spent.reward_evaluations}, options);
    testing::for_each_configuration(graph, [&](const Assignment& x) {
      if (graph.log_density(x) == kNegInf) {
        EXPECT_EQ(result.approximation.log_prob(x), kNegInf);
      }
    });
  }
}

// Split buckets do not see every dead end. A row that would lose all of its states keeps them, so that it can be drawn
// from.
TEST(PossibleValue, DeadEndsThatAreSeenLateCanBeDrawnFrom) {
  for (const FactorGraph& graph : models_with_zeros(40)) {
    const SearchSpace space = tree_of(graph);
    const PossibleValue value(space, std::make_shared<UniformValue>(space),
                              std::make_shared<WeightedMiniBucket>(
                                  graph, space, MiniBucketOptions{.i_bound = 0, .passes = 1, .lower_bound = false}));
    Random random(3);
    for (int i = 0; i < 50; ++i) {
      Assignment x(7, -1);
      EXPECT_GT(value.sample_below(0, x, random), kNegInf);
    }
  }
}

TEST(PossibleValue, LeavesModelsWithoutZerosAlone) {
  Random random(7);
  const FactorGraph graph = testing::random_model(random);
  const FactorGraph functions = testing::random_model(random, {.zero_probability = 0.3, .function_probability = 1.0});
  for (const FactorGraph* const each : {&graph, &functions}) {
    const SearchSpace space = tree_of(*each);
    const auto uniform = std::make_shared<UniformValue>(space);
    EXPECT_EQ(without_impossible(*each, space, uniform), uniform);
  }
}

}  // namespace
}  // namespace treesample
