// Which samplers of a solved search are the target: not those of one that gave nodes back.
#include "treesample/search/search_approximation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_models.hpp"
#include "treesample/evaluate/divergence.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/search/q_uct_search.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {
namespace {

// A chain of ten variables with more factors across it.
FactorGraph band(std::uint64_t seed) {
  constexpr int kVariables = 10;
  FactorGraph graph;
  Random random(seed, "band");
  for (int v = 0; v < kVariables; ++v) graph.add_variable(2);
  for (const int distance : {1, 3}) {
    for (int v = 0; v + distance < kVariables; ++v) {
      std::vector<double> values(4);
      for (double& value : values) value = 2.0 * random.normal();
      graph.add_table({v, v + distance}, values);
    }
  }
  return graph;
}

SearchSpace path(const FactorGraph& graph) {
  const std::vector<int> order = testing::integers(graph.num_variables());
  return make_search_space(graph, order, SpaceKind::kGraph);
}

Marginals enumerated_marginals(const FactorGraph& graph, const Approximation& approximation) {
  Marginals result;
  for (int v = 0; v < graph.num_variables(); ++v) result.emplace_back(graph.num_states(v), 0.0);
  for (std::size_t i = 0; i < 1024; ++i) {
    const Assignment x = configuration_at(graph, i);
    for (int v = 0; v < graph.num_variables(); ++v) result[v][x[v]] += std::exp(approximation.log_prob(x));
  }
  return result;
}

void expect_to_know_itself(const FactorGraph& graph, const StoreApproximation& sampler, double log_z) {
  const Divergence enumerated = enumerated_divergence(graph, sampler);
  if (sampler.is_exact()) {
    EXPECT_NEAR(enumerated.kl(log_z), 0.0, 1e-9);
  }
  const std::optional<Divergence> passed = store_divergence(graph, sampler);
  EXPECT_EQ(passed.has_value(), sampler.has_exact_marginals());
  if (!passed) return;
  EXPECT_NEAR(passed->kl(log_z), enumerated.kl(log_z), 1e-9);
  const Marginals marginals = sampler.marginals(), expected = enumerated_marginals(graph, sampler);
  for (int v = 0; v < graph.num_variables(); ++v) EXPECT_NEAR(marginals[v][0], expected[v][0], 1e-9) << v;
}

TEST(SearchApproximation, OfASearchThatGaveNodesBackIsNotTheTarget) {
  int num_solved = 0, num_others = 0;
  for (int seed = 0; seed < 3; ++seed) {
    const FactorGraph graph = band(seed);
    const SearchSpace space = path(graph);
    const double log_z = enumerate(graph).log_z;
    for (const std::size_t bytes : {5000, 6000, 7000, 8000, 100000}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", " << bytes << " bytes");
      const Limits limits{.budget = 3000, .bytes = bytes, .threads = 1};
      const QUctResult by_estimates = q_uct_search(graph, space, {}, limits);
      LeafValues leaves{.lower = product_value(graph, space, uniform_distributions(graph)),
                        .upper = maxima_value(graph, space)};
      const SearchResult result = search(graph, space, leaves, limits);
      const SearchApproximation lower(result, SamplerKind::kLower), upper(result, SamplerKind::kUpper);
      expect_to_know_itself(graph, *by_estimates.approximation, log_z);
      expect_to_know_itself(graph, lower, log_z);
      expect_to_know_itself(graph, upper, log_z);
      const bool is_solved = by_estimates.report.stop == StopReason::kExact;
      num_solved += is_solved ? 1 : 0;
      num_others += is_solved && !by_estimates.approximation->is_exact() ? 1 : 0;
      EXPECT_TRUE(bytes < 100000 || (is_solved && by_estimates.approximation->is_exact() && upper.is_exact()));
    }
  }
  EXPECT_GT(num_solved, 6);
  EXPECT_GT(num_others, 0);
}

// Everything is below the store: the sampler is the target, but no pass over the store says anything about it.
TEST(SearchApproximation, OfExactMiniBucketsIsTheTarget) {
  const FactorGraph graph = band(1);
  const SearchSpace space = path(graph);
  const auto buckets = std::make_shared<const WeightedMiniBucket>(graph, space);
  ASSERT_TRUE(buckets->report().is_exact);
  const SearchResult result =
      search(graph, space, mini_bucket_leaves(graph, space, buckets, uniform_distributions(graph)), {.threads = 1});
  for (const SamplerKind kind : {SamplerKind::kLower, SamplerKind::kUpper}) {
    const SearchApproximation sampler(result, kind);
    EXPECT_TRUE(sampler.is_exact());
    EXPECT_FALSE(sampler.has_exact_marginals());
    EXPECT_FALSE(store_divergence(graph, sampler));
    EXPECT_THROW(static_cast<void>(sampler.marginals()), Error);
    EXPECT_NEAR(enumerated_divergence(graph, sampler).kl(enumerate(graph).log_z), 0.0, 1e-9);
  }
}

}  // namespace
}  // namespace treesample
