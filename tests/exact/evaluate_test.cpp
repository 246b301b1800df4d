// The pass over a store, and the target's own moments, against sums over all configurations.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/divergence.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/search/q_uct_search.hpp"

namespace treesample {
namespace {

constexpr SpaceKind kSpaces[] = {SpaceKind::kTree, SpaceKind::kGraph, SpaceKind::kAndOr};

std::shared_ptr<const StoreApproximation> search(const FactorGraph& graph, SpaceKind kind, std::int64_t budget,
                                                 Random& random) {
  TreeSearchOptions options{.c = 2.0 * random.uniform(), .ties = TieRule::kRandom, .seed = random.bits()};
  return q_uct_search(graph, make_search_space(graph, random.permutation(graph.num_variables()), kind), {},
                      {.budget = budget}, options)
      .approximation;
}

struct Sums {
  double energy = 0.0;
  double entropy = 0.0;
};

// E_P[sum psi] and H[P] from their definitions; impossible configurations count, however improbable they are.
Sums sums_over_configurations(const FactorGraph& graph, const Approximation& approximation) {
  Sums sums;
  const std::size_t count = enumerate(graph).log_probs.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Assignment x = configuration_at(graph, i);
    const double log_prob = approximation.log_prob(x);
    if (log_prob == kNegInf) continue;
    const double log_density = graph.log_density(x);
    sums.energy = log_density == kNegInf ? kNegInf : sums.energy + std::exp(log_prob) * log_density;
    sums.entropy -= std::exp(log_prob) * log_prob;
  }
  return sums;
}

void expect_near_or_equal(double actual, double expected, const std::string& what) {
  if (std::isinf(expected)) {
    EXPECT_EQ(actual, expected) << what;
  } else {
    EXPECT_NEAR(actual, expected, 1e-10 * (1.0 + std::abs(expected))) << what;
  }
}

struct Tally {
  int num_impossible = 0;  // with energy -inf
  int num_exact = 0;       // complete stores
  int num_partial = 0;     // others with finite energy
};

// Compares at many budgets in all spaces.
Tally compare_with_enumeration(const testing::RandomModelOptions& model, int num_models, std::uint64_t seed) {
  Tally tally;
  Random random(seed);
  for (int i = 0; i < num_models; ++i) {
    const FactorGraph graph = testing::random_model(random, model);
    for (const SpaceKind kind : kSpaces) {
      for (const std::int64_t budget : {0, 1, 2, 4, 8, 16, 40, 100, 1000}) {
        const auto found = search(graph, kind, budget, random);
        const StoreApproximation& approximation = *found;
        if (approximation.log_value() == kNegInf) {
          EXPECT_THROW((void)store_divergence(graph, approximation), Error);
          EXPECT_THROW((void)enumerated_divergence(graph, approximation), Error);
          continue;
        }
        const std::string what =
            "model " + std::to_string(i) + " space " + std::to_string(int(kind)) + " budget " + std::to_string(budget);
        const Sums expected = sums_over_configurations(graph, approximation);
        const auto actual = store_divergence(graph, approximation);
        if (!actual) {
          ADD_FAILURE() << what << ": not exact";
          continue;
        }
        EXPECT_TRUE(actual->is_exact);
        expect_near_or_equal(actual->energy, expected.energy, "energy, " + what);
        expect_near_or_equal(actual->entropy, expected.entropy, "entropy, " + what);
        expect_near_or_equal(actual->delta_kl, -expected.energy - expected.entropy, "delta KL, " + what);
        const Divergence enumerated = enumerated_divergence(graph, approximation);
        expect_near_or_equal(enumerated.energy, expected.energy, "enumerated energy, " + what);
        expect_near_or_equal(enumerated.entropy, expected.entropy, "enumerated entropy, " + what);
        int& count = approximation.is_exact()      ? tally.num_exact
                     : std::isinf(expected.energy) ? tally.num_impossible
                                                   : tally.num_partial;
        ++count;
      }
    }
  }
  return tally;
}

TEST(StoreDivergence, EqualsEnumerationForTables) {
  const Tally tally =
      compare_with_enumeration({.num_variables = 6, .num_factors = 9, .min_arity = 0, .max_arity = 4}, 120, 1);
  EXPECT_GT(tally.num_partial, 1000);
  EXPECT_GT(tally.num_exact, 300);
  EXPECT_EQ(tally.num_impossible, 0);
}

TEST(StoreDivergence, EqualsEnumerationForSparseModels) {
  const Tally tally =
      compare_with_enumeration({.num_variables = 7, .min_states = 2, .num_factors = 5, .max_arity = 2}, 40, 2);
  EXPECT_GT(tally.num_partial, 300);
}

TEST(StoreDivergence, EqualsEnumerationForZerosAndFunctions) {
  const Tally tally = compare_with_enumeration(
      {.num_variables = 5, .num_factors = 7, .min_arity = 0, .zero_probability = 0.07, .function_probability = 0.5},
      120, 3);
  EXPECT_GT(tally.num_partial, 300);
  EXPECT_GT(tally.num_impossible, 300);
}

// Paths with a probability far below the smallest double still make the energy -inf if a factor on them is impossible.
TEST(StoreDivergence, SeesImpossibleConfigurationsBelowTheLeastDouble) {
  const Tally tally = compare_with_enumeration(
      {.num_variables = 5, .min_states = 2, .num_factors = 6, .zero_probability = 0.04, .scale = 300.0}, 60, 4);
  EXPECT_GT(tally.num_impossible, 100);
  EXPECT_GT(tally.num_partial, 100);
}

TEST(StoreDivergence, HandlesModelsWithoutVariablesOrFactors) {
  Random random(5);
  FactorGraph nothing;
  nothing.add_table({}, {1.5});
  FactorGraph free = testing::variables({3, 1, 4});
  for (const SpaceKind kind : kSpaces) {
    const auto constant = store_divergence(nothing, *search(nothing, kind, 10, random));
    EXPECT_DOUBLE_EQ(constant->energy, 1.5);
    EXPECT_DOUBLE_EQ(constant->entropy, 0.0);
    for (const int budget : {0, 2, 100}) {
      const auto uniform = store_divergence(free, *search(free, kind, budget, random));
      EXPECT_DOUBLE_EQ(uniform->energy, 0.0);
      EXPECT_NEAR(uniform->entropy, std::log(12.0), 1e-14);
    }
  }
}

// log Z = E + H only at the target; elsewhere -delta_KL is a lower bound on it.
TEST(StoreDivergence, KlIsZeroExactlyWhenTheSearchIsComplete) {
  Random random(6);
  for (int i = 0; i < 50; ++i) {
    const FactorGraph graph = testing::random_model(random, {.min_states = 2});
    const double log_z = enumerate(graph).log_z;
    for (const SpaceKind kind : kSpaces) {
      EXPECT_NEAR(store_divergence(graph, *search(graph, kind, 100'000, random))->kl(log_z), 0.0, 1e-11);
      EXPECT_GT(store_divergence(graph, *search(graph, kind, 0, random))->kl(log_z), 1e-3);
    }
  }
}

TEST(TargetMoments, EqualEnumeration) {
  Random random(7);
  int num_with_zeros = 0;
  for (int i = 0; i < 200; ++i) {
    const FactorGraph graph = testing::random_model(
        random, {.min_arity = 0, .zero_probability = i % 2 == 0 ? 0.0 : 0.2, .function_probability = 0.2});
    const Enumeration exact = enumerate(graph);
    if (exact.log_z == kNegInf) {
      EXPECT_THROW((void)target_moments(graph), Error);
      continue;
    }
    double energy = 0.0;
    double entropy = 0.0;
    for (std::size_t k = 0; k < exact.log_probs.size(); ++k) {
      const double log_prob = exact.log_probs[k];
      if (log_prob == kNegInf) {
        ++num_with_zeros;
        continue;
      }
      energy += std::exp(log_prob) * (log_prob + exact.log_z);
      entropy -= std::exp(log_prob) * log_prob;
    }
    const TargetMoments moments = target_moments(graph);
    EXPECT_NEAR(moments.log_z, exact.log_z, 1e-11);
    EXPECT_NEAR(moments.energy, energy, 1e-11);
    EXPECT_NEAR(moments.entropy, entropy, 1e-11);
    const auto partial = store_divergence(graph, *search(graph, SpaceKind::kTree, 10, random));
    if (std::isinf(partial->energy)) continue;
    EXPECT_NEAR(delta_energy(moments, *partial) - delta_entropy(moments, *partial), partial->kl(exact.log_z), 1e-11);
  }
  EXPECT_GT(num_with_zeros, 1000);
}

}  // namespace
}  // namespace treesample
