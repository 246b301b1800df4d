// Bounds that are sums of very many terms, or of terms that cancel: their own rounding counts too.
#include <gtest/gtest.h>

#include <cmath>

#include "monotone/table_masses.hpp"
#include "support/search_models.hpp"
#include "treesample/search/search_approximation.hpp"
#include "treesample/surrogate/learned_search.hpp"
#include "treesample/value/leaf_value.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {
namespace {

using testing::space_of;

FactorGraph free_variables(int count, int num_states) {
  FactorGraph graph = testing::variables(count, num_states);
  return graph;
}

long double log_of(int number) { return std::log(static_cast<long double>(number)); }

TEST(ManyTerms, EntropyOfManyStatesIsNoLowerBoundBeforeItIsMovedDown) {
  for (const int num_states : {2, 1000, 50'000, 999'999}) {
    const FactorGraph graph = free_variables(1, num_states);
    const SearchSpace space = space_of(graph, SpaceKind::kTree);
    const auto lower = product_value(graph, space, uniform_distributions(graph));
    const double value = lower->log_value(0, Assignment{0});
    EXPECT_LE(static_cast<long double>(value), log_of(num_states)) << num_states;
    EXPECT_NEAR(value, static_cast<double>(log_of(num_states)), 1e-8) << num_states;
  }
}

TEST(ManyTerms, SamplersKnowTheRoundingOfThousandsOfRoots) {
  for (const int num_states : {5, 11, 13}) {
    const FactorGraph graph = free_variables(10'000, num_states);
    const SearchSpace space = space_of(graph, SpaceKind::kAndOr);
    const LeafValues leaves{.lower = product_value(graph, space, uniform_distributions(graph)),
                            .upper = maxima_value(graph, space)};
    for (const std::int64_t budget : {0, 200'000}) {
      const SearchResult result = search(graph, space, leaves, {.budget = budget});
      const long double log_z = 10'000 * log_of(num_states);
      const double upper = SearchApproximation(result, SamplerKind::kUpper).log_value();
      const double lower = SearchApproximation(result, SamplerKind::kLower).log_value();
      EXPECT_GE(static_cast<long double>(upper), log_z) << num_states << " " << budget;
      EXPECT_LE(static_cast<long double>(lower), log_z) << num_states << " " << budget;
      EXPECT_NEAR(upper, static_cast<double>(log_z), 1e-4);
    }
  }
}

TEST(ManyTerms, SamplersKnowTheRoundingOfThousandsOfChildren) {
  for (const int num_states : {5, 13}) {
    FactorGraph graph = free_variables(3001, num_states);
    for (int v = 1; v <= 3000; ++v) {
      graph.add_table({0, v}, std::vector<double>(static_cast<std::size_t>(num_states) * num_states, 0.0));
    }
    const SearchSpace space = space_of(graph, SpaceKind::kAndOr);
    const LeafValues leaves{.lower = product_value(graph, space, uniform_distributions(graph)),
                            .upper = maxima_value(graph, space)};
    const SearchResult result = search(graph, space, leaves, {.budget = 100});
    const long double log_z = 3001 * log_of(num_states);
    EXPECT_GE(static_cast<long double>(SearchApproximation(result, SamplerKind::kUpper).log_value()), log_z);
    EXPECT_LE(static_cast<long double>(SearchApproximation(result, SamplerKind::kLower).log_value()), log_z);
  }
}

TEST(ManyTerms, MassesOfBoxesAreWithinTheirError) {
  for (const int num_states : {5, 11, 13}) {
    for (const int count : {1000, 100'000}) {
      const FactorGraph graph = free_variables(count, num_states);
      const TableMasses masses(graph);
      const long double log_z = count * log_of(num_states);
      const long double mass = masses.log_mass(Box::of_all(graph));
      EXPECT_LE(std::abs(mass - log_z), static_cast<long double>(masses.log_error())) << num_states << " " << count;
      EXPECT_LT(masses.log_error(), 1e-6);
    }
  }
}

TEST(ManyTerms, MaximaOfFunctionsMayCancel) {
  FactorGraph graph = free_variables(12, 2);
  std::vector<int> scope;
  for (int v = 0; v < 12; ++v) scope.push_back(v);
  for (const double value : {0.1, 1e7, -1e7}) {
    graph.add_factor(Factor::function(
        scope, [value](std::span<const int>) { return value; }, value));
  }
  const LearnedResult result = learned_search(graph, {.budget = 20, .unit = BudgetUnit::kCall});
  ASSERT_TRUE(result.log_most);
  EXPECT_GE(*result.log_most, 0.1);
  EXPECT_GE(result.report.log_z.upper, 0.1 + 12.0 * std::log(2.0) - 1e-12);
}

TEST(ManyTerms, WeightsOfSamplesAreWithinTheirBound) {
  for (const double p : {0.45, 0.35}) {
    FactorGraph graph = free_variables(200'000, 2);
    for (int v = 0; v < graph.num_variables(); ++v) graph.add_table({v}, {std::log(p), std::log(1.0 - p)});
    const SearchSpace space = space_of(graph, SpaceKind::kAndOr);
    const SearchResult result =
        search(graph, space, {.upper = std::make_shared<WeightedMiniBucket>(graph, space)}, {.budget = 0});
    const SearchApproximation sampler(result, SamplerKind::kUpper);
    Random random(1, "weights");
    Assignment x(static_cast<std::size_t>(graph.num_variables()), -1);
    for (int i = 0; i < 5; ++i) {
      const double log_prob = sampler.sample_into(x, random);
      EXPECT_LE(graph.log_density(x) - log_prob, sampler.log_value()) << p;
    }
  }
}

}  // namespace
}  // namespace treesample
