#include "treesample/evaluate/divergence.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/search/q_uct_search.hpp"

namespace treesample {
namespace {

using testing::expect_error;

// A prior that is not uniform: it prefers low states.
class LowStates final : public LeafValue {
 public:
  using LeafValue::LeafValue;
  void q_values(int /*level*/, std::span<const int> /*prefixes*/, int /*count*/, std::span<double> q) const override {
    for (std::size_t i = 0; i < q.size(); ++i) q[i] = -0.5 * static_cast<double>(i);
  }
};

std::shared_ptr<const StoreApproximation> search(const FactorGraph& graph, std::int64_t budget,
                                                 bool prefers_low_states = false) {
  const std::vector<int> order = testing::integers(graph.num_variables());
  const SearchSpace space = make_search_space(graph, order, SpaceKind::kAndOr);
  LeafValues leaves;
  if (prefers_low_states) leaves.estimate = std::make_shared<LowStates>(space);
  return q_uct_search(graph, space, leaves, {.budget = budget}).approximation;
}

// What callers see of an approximation that is not a search.
class WithoutStore final : public Approximation {
 public:
  explicit WithoutStore(std::shared_ptr<const StoreApproximation> inside) : inside_(std::move(inside)) {}
  [[nodiscard]] Assignment sample(Random& random) const override { return inside_->sample(random); }
  [[nodiscard]] double log_prob(std::span<const int> x) const override { return inside_->log_prob(x); }

 private:
  std::shared_ptr<const StoreApproximation> inside_;
};

// Binary variable, uniform P_X, by hand: E = (1 + 3) / 2, H = log 2.
TEST(StoreDivergence, UniformOverTwoStates) {
  FactorGraph graph = testing::variables({2});
  graph.add_table({0}, {1.0, 3.0});
  const auto uniform = store_divergence(graph, *search(graph, 0));
  EXPECT_DOUBLE_EQ(uniform->energy, 2.0);
  EXPECT_DOUBLE_EQ(uniform->entropy, std::log(2.0));
  EXPECT_DOUBLE_EQ(uniform->delta_kl, -2.0 - std::log(2.0));
  EXPECT_EQ(uniform->delta_kl_error, 0.0);
}

// After one evaluation: Q = {1, 0} (the other edge keeps its prior), but the energy knows both rewards.
TEST(StoreDivergence, UnexpandedEdgesCarryTheirOwnFactors) {
  FactorGraph graph = testing::variables({2});
  graph.add_table({0}, {1.0, 3.0});
  const std::vector<int> order = {0};
  const SearchSpace space = make_search_space(graph, order, SpaceKind::kTree);
  const auto one = store_divergence(graph, tree_sample(graph, space, {}, {.budget = 1}).approximation);
  const double p = std::exp(1.0) / (std::exp(1.0) + 1.0);
  EXPECT_NEAR(one->energy, p * 1.0 + (1.0 - p) * 3.0, 1e-15);
}

TEST(SampledDivergence, AgreesWithTheExactOneWithinItsErrors) {
  Random random(1);
  for (int i = 0; i < 20; ++i) {
    const FactorGraph graph = testing::random_model(random, {.min_states = 2, .num_factors = 9});
    const auto approximation = search(graph, 15);
    const auto exact = store_divergence(graph, *approximation);
    const Divergence sampled = sampled_divergence(graph, *approximation, 2000, random);
    EXPECT_FALSE(sampled.is_exact);
    EXPECT_EQ(sampled.num_samples, 2000);
    EXPECT_GT(sampled.energy_error, 1e-4);
    EXPECT_LT(sampled.energy_error, 0.2);
    // 60 comparisons at 5 standard errors each: a false alarm in 3e4 seeds.
    EXPECT_NEAR(sampled.energy, exact->energy, 5.0 * sampled.energy_error);
    EXPECT_NEAR(sampled.entropy, exact->entropy, 5.0 * sampled.entropy_error + 1e-12);
    EXPECT_NEAR(sampled.delta_kl, exact->delta_kl, 5.0 * sampled.delta_kl_error);
  }
}

TEST(SampledDivergence, AnImpossibleSampleProvesInfinity) {
  FactorGraph graph = testing::variables({2});
  graph.add_table({0}, {0.0, kNegInf});
  Random random(2);
  const Divergence sampled = sampled_divergence(graph, *search(graph, 0), 100, random);
  EXPECT_EQ(sampled.energy, kNegInf);
  EXPECT_EQ(sampled.delta_kl, HUGE_VAL);
  EXPECT_EQ(sampled.energy_error, 0.0);
  EXPECT_EQ(sampled.delta_kl_error, 0.0);
  EXPECT_NEAR(sampled.entropy, std::log(2.0), 1e-13);
}

TEST(Divergence, TakesThePassThenEnumerationThenSamples) {
  Random random(3);
  const FactorGraph graph = testing::random_model(random, {.min_states = 2});
  const auto approximation = search(graph, 10);
  const WithoutStore hidden(approximation);
  const DivergenceOptions options{.num_samples = 100};
  const Divergence by_pass = divergence(graph, *approximation, options, random);
  EXPECT_TRUE(by_pass.is_exact);
  EXPECT_EQ(by_pass.spent.reward_evaluations, 0);
  const Divergence by_enumeration = divergence(graph, hidden, options, random);
  EXPECT_TRUE(by_enumeration.is_exact);
  EXPECT_GT(by_enumeration.spent.reward_evaluations, 0);
  EXPECT_NEAR(by_enumeration.delta_kl, by_pass.delta_kl, 1e-12);
  const Divergence by_samples = divergence(graph, hidden, {.num_samples = 100, .max_configurations = 1}, random);
  EXPECT_FALSE(by_samples.is_exact);
  EXPECT_EQ(by_samples.num_samples, 100);
}

TEST(Divergence, LimitOnConfigurationsIsExact) {
  Random random(4);
  FactorGraph graph = testing::variables(3, 3);
  graph.add_table({1}, {0.0, 1.0, 2.0});
  const WithoutStore hidden(search(graph, 0));
  EXPECT_TRUE(divergence(graph, hidden, {.max_configurations = 27}, random).is_exact);
  EXPECT_FALSE(divergence(graph, hidden, {.max_configurations = 26}, random).is_exact);
}

TEST(StoreDivergence, NeedsAUniformPriorUnlessTheSearchIsComplete) {
  Random random(5);
  const FactorGraph graph = testing::random_model(random, {.min_states = 2});
  EXPECT_FALSE(store_divergence(graph, *search(graph, 3, true)).has_value());
  EXPECT_TRUE(divergence(graph, *search(graph, 3, true), {}, random).is_exact);  // by enumeration
  const auto complete = store_divergence(graph, *search(graph, 100'000, true));
  ASSERT_TRUE(complete.has_value());
  EXPECT_NEAR(complete->delta_kl, -target_moments(graph).log_z, 1e-11);
}

TEST(StoreDivergence, FunctionsAreEvaluatedUpToALimitAndOnlyWhenNeeded) {
  FactorGraph graph = testing::variables(3, 2);
  int num_calls = 0;
  const auto sum = [&num_calls](std::span<const int> states) {
    ++num_calls;
    return 1.0 * std::accumulate(states.begin(), states.end(), 0);
  };
  graph.add_factor(Factor::function({2, 0}, sum));
  graph.add_factor(Factor::function({1, 2, 0}, sum));
  const auto partial = search(graph, 3);
  num_calls = 0;
  EXPECT_FALSE(store_divergence(graph, *partial, 11).has_value());
  EXPECT_EQ(num_calls, 0);
  EXPECT_EQ(store_divergence(graph, *partial, 12)->spent.factor_evaluations, 12);
  EXPECT_EQ(num_calls, 12);
  const auto complete = search(graph, 1000);
  num_calls = 0;
  EXPECT_TRUE(store_divergence(graph, *complete, 0).has_value());
  EXPECT_EQ(num_calls, 0);
}

// A scope whose number of entries does not fit 64 bits.
TEST(StoreDivergence, WideFunctionsAreSampled) {
  FactorGraph graph = testing::variables(70, 2);
  const std::vector<int> scope = testing::integers(70);
  graph.add_factor(Factor::function(
      scope, [](std::span<const int> states) { return 0.1 * std::accumulate(states.begin(), states.end(), 0); }));
  Random random(6);
  const Divergence sampled = divergence(graph, *search(graph, 200), {.num_samples = 1000}, random);
  EXPECT_FALSE(sampled.is_exact);
  EXPECT_NEAR(sampled.energy, 3.5, 5.0 * sampled.energy_error);
  EXPECT_EQ(sampled.spent.factor_evaluations, 1000);
}

TEST(Divergence, RefusesWhatHasNoAnswer) {
  Random random(7);
  FactorGraph impossible = testing::variables({2});
  impossible.add_table({0}, {kNegInf, kNegInf});
  const auto none = search(impossible, 10);
  expect_error(ErrorCode::kArgument, [&] { (void)divergence(impossible, *none, {}, random); });
  expect_error(ErrorCode::kArgument, [&] { (void)sampled_divergence(impossible, *none, 10, random); });
  expect_error(ErrorCode::kArgument, [&] { (void)target_moments(impossible); });

  FactorGraph large = testing::variables(25, 2);
  expect_error(ErrorCode::kResource, [&] { (void)enumerated_divergence(large, *search(large, 0)); });
  expect_error(ErrorCode::kArgument, [&] { (void)store_divergence(impossible, *search(large, 0)); });
  expect_error(ErrorCode::kArgument, [&] { (void)sampled_divergence(large, *search(large, 0), 0, random); });
  FactorGraph dense = testing::variables(12, 2);
  for (int v = 0; v < 12; ++v) {
    for (int u = 0; u < v; ++u) dense.add_table({u, v}, {0.1, 0.2, 0.3, 0.4});
  }
  expect_error(ErrorCode::kResource, [&] { (void)target_moments(dense, 10.0, 10.0); });
  dense.add_factor(Factor::function({0, 1}, [](std::span<const int>) { return 0.0; }));
  expect_error(ErrorCode::kResource, [&] { (void)target_moments(dense, 10.0); });
}

// Beyond max_evaluations elimination answers: the same three numbers, also with impossible entries.
TEST(TargetMoments, AreTheSameBySearchAndByElimination) {
  Random random(8);
  for (int trial = 0; trial < 40; ++trial) {
    const FactorGraph graph = testing::random_model(
        random,
        {.num_variables = 7, .min_states = 2, .num_factors = 9, .zero_probability = trial % 2 == 0 ? 0.1 : 0.0});
    if (enumerate(graph).log_z == kNegInf) continue;
    const TargetMoments searched = target_moments(graph);
    const TargetMoments eliminated = target_moments(graph, 0.5);
    EXPECT_NEAR(eliminated.log_z, searched.log_z, 1e-10);
    EXPECT_NEAR(eliminated.energy, searched.energy, 1e-9);
    EXPECT_NEAR(eliminated.entropy, searched.entropy, 1e-9);
  }
}

}  // namespace
}  // namespace treesample
