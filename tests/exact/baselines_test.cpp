// Theory of Gibbs sampling and belief propagation against enumeration: a sweep leaves the target invariant, messages
// are exact on forests.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "baselines/gibbs_kernel.hpp"
#include "baselines/message_passing.hpp"
#include "support/equal_marginals.hpp"
#include "support/random_models.hpp"
#include "treesample/baselines/belief_propagation.hpp"
#include "treesample/baselines/gibbs.hpp"
#include "treesample/baselines/metropolis.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

using testing::expect_equal_marginals;
using testing::random_model;
using testing::RandomModelOptions;

// ---- Gibbs

// P(x -> y) of one sweep, from the conditionals that the sampler draws from.
std::vector<std::vector<double>> sweep_matrix(const FactorGraph& graph) {
  GibbsKernel kernel(graph);
  const std::size_t size = enumerate(graph).log_probs.size();
  std::vector<std::vector<double>> matrix(size, std::vector<double>(size, 0.0));
  for (std::size_t i = 0; i < size; ++i) {
    matrix[i][i] = 1.0;
    for (int v = 0; v < graph.num_variables(); ++v) {
      std::vector<double> next(size, 0.0);
      for (std::size_t j = 0; j < size; ++j) {
        if (matrix[i][j] == 0.0) continue;
        Assignment x = configuration_at(graph, j);
        const std::span<const double> conditional = kernel.conditional(v, x);
        EXPECT_NEAR(std::accumulate(conditional.begin(), conditional.end(), 0.0), 1.0, 1e-12);
        for (int a = 0; a < graph.num_states(v); ++a) {
          x[v] = a;
          next[configuration_index(graph, x)] += matrix[i][j] * conditional[a];
        }
      }
      matrix[i] = next;
    }
  }
  return matrix;
}

RandomModelOptions gibbs_model(int trial) {
  return {.num_variables = 1 + trial % 4,
          .num_factors = trial % 7,
          .min_arity = trial % 2,
          .zero_probability = trial % 3 == 0 ? 0.35 : 0.0,
          .function_probability = trial % 5 == 0 ? 0.5 : 0.0,
          .scale = trial % 11 == 0 ? 30.0 : 1.0};
}

TEST(Gibbs, LeavesTargetInvariant) {
  Random random(44);
  int num_checked = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const FactorGraph graph = random_model(random, gibbs_model(trial));
    const Enumeration exact = enumerate(graph);
    const auto matrix = sweep_matrix(graph);  // must not give NaN where Z = 0
    if (exact.log_z == kNegInf) continue;
    ++num_checked;
    for (std::size_t j = 0; j < matrix.size(); ++j) {
      double after = 0.0;
      for (std::size_t i = 0; i < matrix.size(); ++i) after += std::exp(exact.log_probs[i]) * matrix[i][j];
      ASSERT_NEAR(after, std::exp(exact.log_probs[j]), 1e-12) << "trial " << trial;
    }
  }
  EXPECT_GT(num_checked, 40);
}

// Ties the sampler to the matrix: the end points of sweeps from one state follow its row. 5 standard errors for at most
// 24 states: a false alarm in fewer than 2 of 1e5 seeds.
TEST(Gibbs, SweepsFollowTheirTransitionMatrix) {
  Random random(45);
  const FactorGraph graph = random_model(
      random, {.num_variables = 3, .min_states = 2, .max_states = 3, .num_factors = 5, .zero_probability = 0.1});
  const auto matrix = sweep_matrix(graph);
  GibbsKernel kernel(graph);
  constexpr int kSweeps = 20'000;
  std::vector<int> counts(matrix.size(), 0);
  for (int i = 0; i < kSweeps; ++i) {
    Assignment x = configuration_at(graph, 1);
    const double log_density = kernel.sweep(x, random);
    if (graph.log_density(x) == kNegInf) {
      ASSERT_EQ(log_density, kNegInf);
    } else {
      ASSERT_NEAR(log_density, graph.log_density(x), 1e-12);
    }
    ++counts[configuration_index(graph, x)];
  }
  for (std::size_t j = 0; j < matrix.size(); ++j) {
    const double p = matrix[1][j];
    EXPECT_NEAR(counts[j], kSweeps * p, 5.0 * std::sqrt(kSweeps * p * (1.0 - p)) + 1e-9);
  }
}

TEST(Gibbs, RestartsAndLongChainApproachTheTarget) {
  Random random(46);
  const FactorGraph graph = random_model(random, {.num_variables = 5, .min_states = 2, .num_factors = 7});
  const Enumeration exact = enumerate(graph);
  const GibbsOptions restarts{.num_sweeps = 20};
  const GibbsOptions chain{.mode = GibbsMode::kChain, .num_sweeps = 2, .burn_in = 50};
  for (const auto& [options, budget] : {std::pair{restarts, 5'000'000}, {chain, 500'000}}) {
    const GibbsResult result = gibbs(graph, {.budget = budget}, options);
    EXPECT_GT(result.report.num_samples, 10'000);
    expect_equal_marginals(result.approximation.marginals(), exact.marginals, 0.02);
  }
}

// ---- Metropolis

// 60 models. The bound is loose, because the steps of a chain are correlated: 100,000 of them over up to 81 states.
TEST(Metropolis, LongChainsApproachTheTarget) {
  Random random(47);
  int num_checked = 0;
  for (int trial = 0; trial < 60; ++trial) {
    RandomModelOptions options = gibbs_model(trial);
    options.scale = 1.0;
    options.zero_probability = 0.0;
    const FactorGraph graph = random_model(random, options);
    const Enumeration exact = enumerate(graph);
    const Limits limits{.budget = 200'000};
    const MetropolisResult result = metropolis(graph, limits, {.seed = static_cast<std::uint64_t>(trial)});
    ASSERT_EQ(result.report.num_steps, 200'000);
    ++num_checked;
    expect_equal_marginals(result.approximation.marginals(), exact.marginals, 0.05);
    double best = kNegInf;
    for (const double log_prob : exact.log_probs) best = std::max(best, log_prob + exact.log_z);
    EXPECT_NEAR(result.best->log_density, best, 1e-9) << "trial " << trial;
  }
  EXPECT_EQ(num_checked, 60);
}

// Two possible states that are reachable from each other, and impossible ones: the walk begins anywhere and never stays
// at an impossible one. 5 standard errors of 50,000 steps with an autocorrelation below 0.8.
TEST(Metropolis, LeavesImpossibleConfigurationsAndKeepsTheProportions) {
  FactorGraph graph = testing::variables({2, 5});
  graph.add_table({1}, {kNegInf, kNegInf, kNegInf, 0.0, kNegInf});
  graph.add_table({0}, {0.0, std::log(3.0)});
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const MetropolisResult result = metropolis(graph, {.budget = 100'000}, {.seed = seed});
    ASSERT_EQ(result.approximation.num_atoms(), 2);
    EXPECT_NEAR(result.approximation.marginals()[1][3], 1.0, 1e-12);
    EXPECT_NEAR(result.approximation.marginals()[0][1], 0.75, 5.0 * std::sqrt(0.1875 * 9.0 / 50'000));
  }
}

// ---- Belief propagation

// A forest in the sense of factor graphs: a new factor contains at most one old variable.
FactorGraph random_forest(Random& random, int num_factors, double zeros, double scale) {
  FactorGraph graph;
  const auto new_variable = [&] { return graph.add_variable(1 + static_cast<int>(random.below(3))); };
  new_variable();
  for (int m = 0; m < num_factors; ++m) {
    std::vector<int> scope;
    if (random.uniform() < 0.8) scope.push_back(static_cast<int>(random.below(graph.num_variables())));
    const int num_new = graph.num_variables() < 9 ? static_cast<int>(random.below(4)) : 0;
    for (int i = 0; i < num_new; ++i) scope.push_back(new_variable());
    const std::vector<int> shuffle = random.permutation(static_cast<int>(scope.size()));
    std::vector<int> shuffled;
    for (const int i : shuffle) shuffled.push_back(scope[i]);
    std::size_t size = 1;
    for (const int v : shuffled) size *= graph.num_states(v);
    std::vector<double> values(size);
    for (double& value : values) value = random.uniform() < zeros ? kNegInf : scale * random.normal();
    graph.add_table(shuffled, values);
  }
  return graph;
}

FactorGraph forest_of_trial(Random& random, int trial) {
  return random_forest(random, trial % 9, trial % 3 == 0 ? 0.2 : 0.0, trial % 7 == 0 ? 1000.0 : 1.0);
}

TEST(BeliefPropagation, ExactOnForests) {
  Random random(47);
  int num_zero = 0;
  for (int trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(trial);
    const FactorGraph graph = forest_of_trial(random, trial);
    const Enumeration exact = enumerate(graph);
    const BeliefPropagationResult result = belief_propagation(graph, {}, {.damping = trial % 5 == 0 ? 0.3 : 0.0});
    if (exact.log_z == kNegInf) {
      ++num_zero;
      ASSERT_EQ(result.report.estimate, kNegInf);
    } else {
      ASSERT_TRUE(result.report.is_converged());
      ASSERT_NEAR(result.report.estimate, exact.log_z, 1e-8 + 1e-12 * std::abs(exact.log_z));
    }
    expect_equal_marginals(result.marginals, exact.marginals, 1e-7);
  }
  EXPECT_GT(num_zero, 5);
}

// The beliefs that decimation draws from are the exact conditionals, whatever was drawn before.
TEST(BeliefPropagation, DecimationDrawsFromExactConditionalsOnForests) {
  Random random(48);
  for (int trial = 0; trial < 150; ++trial) {
    SCOPED_TRACE(trial);
    const FactorGraph graph = forest_of_trial(random, trial);
    Enumeration exact = enumerate(graph);
    if (exact.log_z == kNegInf) continue;
    MessagePassing messages(graph, 0.0);
    messages.reset();
    for (int v = 0; v < graph.num_variables(); ++v) {
      for (int step = 0; step < 2 * graph.num_variables() + 2; ++step) messages.step();
      std::vector<double> belief(graph.num_states(v));
      ASSERT_TRUE(messages.belief(v, belief));
      std::vector<double> expected(graph.num_states(v), kNegInf);
      for (std::size_t index = 0; index < exact.log_probs.size(); ++index) {
        double& value = expected[configuration_at(graph, index)[v]];
        value = log_add_exp(value, exact.log_probs[index]);
      }
      softmax(expected, expected);
      for (std::size_t a = 0; a < belief.size(); ++a) ASSERT_NEAR(belief[a], expected[a], 1e-9);
      const int state = random.categorical(belief);
      messages.fix(v, state);
      for (std::size_t index = 0; index < exact.log_probs.size(); ++index) {
        if (configuration_at(graph, index)[v] != state) exact.log_probs[index] = kNegInf;
      }
    }
  }
}

// 5 standard errors per configuration: a false alarm in fewer than 5 of 1e5 seeds.
TEST(BeliefPropagation, DecimationSamplesTheTargetOnForests) {
  Random random(49);
  const FactorGraph graph = random_forest(random, 6, 0.1, 1.0);
  const Enumeration exact = enumerate(graph);
  ASSERT_NE(exact.log_z, kNegInf);
  ASSERT_LT(exact.log_probs.size(), 200U);
  const BpSampleResult result = bp_sample(graph, {.budget = 5'000'000}, {.num_steps = 12, .seed = 3});
  const auto num_samples = static_cast<double>(result.report.num_samples);
  ASSERT_GT(num_samples, 5'000);
  EXPECT_EQ(result.report.num_contradictions, 0);
  EXPECT_EQ(result.report.num_zero_density, 0);
  for (std::size_t index = 0; index < exact.log_probs.size(); ++index) {
    const double p = std::exp(exact.log_probs[index]);
    const double found = std::exp(result.approximation.log_prob(configuration_at(graph, index)));
    EXPECT_NEAR(found, p, 5.0 * std::sqrt(p * (1.0 - p) / num_samples) + 1e-12);
  }
}

TEST(BeliefPropagation, GraphsWithCyclesStayFiniteAndSound) {
  Random random(50);
  for (int trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(trial);
    const FactorGraph graph = random_model(random, {.num_variables = 6,
                                                    .num_factors = 9,
                                                    .min_arity = trial % 2,
                                                    .zero_probability = trial % 2 == 0 ? 0.3 : 0.0,
                                                    .scale = trial % 5 == 0 ? 300.0 : 1.0});
    const double log_z = enumerate(graph).log_z;
    const BeliefPropagationResult result =
        belief_propagation(graph, {}, {.max_steps = 200, .damping = 0.1 * (trial % 4)});
    ASSERT_FALSE(std::isnan(result.report.estimate));
    if (result.report.estimate == kNegInf) {
      ASSERT_EQ(log_z, kNegInf);  // zeros are sound
    }
    for (const std::vector<double>& marginal : result.marginals) {
      const double total = std::accumulate(marginal.begin(), marginal.end(), 0.0);
      ASSERT_NEAR(total, result.report.estimate == kNegInf ? 0.0 : 1.0, 1e-9);
    }
    const BpSampleResult samples = bp_sample(graph, {.budget = 1'000}, {.num_steps = 2});
    for (int i = 0; i < samples.approximation.num_atoms(); ++i) {
      ASSERT_NEAR(samples.approximation.log_density(i), graph.log_density(samples.approximation.atom(i)), 1e-9);
    }
    if (log_z == kNegInf) {
      ASSERT_TRUE(samples.approximation.is_empty());
    }
  }
}

// A weakly coupled cycle: nearly exact, and damping changes the iterations but not their limit.
TEST(BeliefPropagation, WeakCycleIsNearExactWithAndWithoutDamping) {
  Random random(51);
  FactorGraph graph = testing::variables(5, 3);
  for (int v = 0; v < 5; ++v) {
    std::vector<double> values(9);
    for (double& value : values) value = 0.3 * random.normal();
    graph.add_table({v, (v + 1) % 5}, values);
  }
  const Enumeration exact = enumerate(graph);
  const BeliefPropagationResult plain = belief_propagation(graph);
  const BeliefPropagationResult damped = belief_propagation(graph, {}, {.damping = 0.5});
  EXPECT_TRUE(plain.report.is_converged());
  EXPECT_TRUE(damped.report.is_converged());
  EXPECT_GT(damped.report.num_steps, plain.report.num_steps);
  EXPECT_NEAR(plain.report.estimate, exact.log_z, 1e-3);
  EXPECT_NE(plain.report.estimate, exact.log_z);
  EXPECT_NEAR(damped.report.estimate, plain.report.estimate, 1e-7);
  expect_equal_marginals(plain.marginals, exact.marginals, 1e-2);
  expect_equal_marginals(damped.marginals, plain.marginals, 1e-7);
}

}  // namespace
}  // namespace treesample
