#include "treesample/reduce/evidence.hpp"

#include <gtest/gtest.h>

#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// The conditioned Z is the sum over all configurations that agree with the evidence.
TEST(Evidence, ConditionedModelHasTheDensityOfTheAgreeingConfigurations) {
  Random random(1);
  for (int variant = 0; variant < 60; ++variant) {
    const FactorGraph graph = testing::random_model(random, {.num_variables = 5,
                                                             .min_arity = 0,
                                                             .zero_probability = variant % 2 == 0 ? 0.2 : 0.0,
                                                             .function_probability = 0.3});
    Evidence evidence;
    for (int v = 0; v < graph.num_variables(); ++v) {
      if (random.uniform() < 0.4) evidence.push_back({v, static_cast<int>(random.below(graph.num_states(v)))});
    }
    const ReducedModel model = condition(graph, evidence);
    ASSERT_EQ(model.graph.num_variables() + static_cast<int>(evidence.size()), graph.num_variables());
    ASSERT_EQ(model.graph.num_factors(), graph.num_factors());
    const auto num_configurations =
        static_cast<std::size_t>(std::lround(std::exp(model.graph.log_num_configurations())));
    for (std::size_t i = 0; i < num_configurations; ++i) {
      const Assignment reduced = configuration_at(model.graph, i);
      const Assignment full = model.lift(reduced);
      for (const auto& [variable, state] : evidence) ASSERT_EQ(full[variable], state);
      const double expected = graph.log_density(full);
      const double found = model.graph.log_density(reduced);
      ASSERT_TRUE(found == expected || std::abs(found - expected) < 1e-12);
    }
  }
}

TEST(Evidence, FullyObservedFactorsStay) {
  FactorGraph graph = testing::variables({2});
  graph.add_table({0}, {-1.0, -2.0});
  const ReducedModel model = condition(graph, {{0, 1}});
  EXPECT_EQ(model.graph.num_variables(), 0);
  EXPECT_EQ(enumerate(model.graph).log_z, -2.0);
}

TEST(Evidence, RefusesUnknownVariablesAndStatesAndContradictions) {
  FactorGraph graph = testing::variables({2});
  EXPECT_THROW(condition(graph, {{1, 0}}), Error);
  EXPECT_THROW(condition(graph, {{0, 2}}), Error);
  EXPECT_THROW(condition(graph, {{0, 0}, {0, 1}}), Error);
  EXPECT_NO_THROW(condition(graph, {{0, 1}, {0, 1}}));
}

}  // namespace
}  // namespace treesample
