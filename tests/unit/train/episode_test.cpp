#include "treesample/train/episode.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "train/bound_targets.hpp"
#include "train/particle_targets.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/space/reward.hpp"
#include "treesample/train/learner.hpp"

namespace treesample {
namespace {

ProblemSource source(int n) {
  ProblemOptions options;
  options.values["n"] = n;
  options.seed = 2;
  return ProblemSource(options);
}

// log of the sum of gamma_hat over all configurations with this prefix and state, less the rewards of the prefix.
double exact_q(const Problem& problem, std::span<const int> prefix, int variable, int state) {
  const FactorGraph& graph = problem.graph;
  std::vector<double> densities;
  const std::size_t count = enumerate(graph).log_probs.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Assignment x = configuration_at(graph, i);
    bool agrees = x[variable] == state;
    for (int v = 0; v < graph.num_variables(); ++v) agrees = agrees && (prefix[v] < 0 || prefix[v] == x[v]);
    if (agrees) densities.push_back(graph.log_density(x));
  }
  double rewards = 0.0;
  for (int m = 0; m < graph.num_factors(); ++m) {
    const std::vector<int>& scope = graph.factor(m).scope();
    const bool is_paid = std::all_of(scope.begin(), scope.end(), [&](int v) { return prefix[v] >= 0; });
    if (is_paid) rewards += graph.log_value(m, prefix);
  }
  return log_sum_exp(densities) - rewards;
}

TEST(Episode, TargetsOfACompleteSearchAreTheExactValues) {
  const ProblemSource problems = source(6);
  const auto problem = problems.problem(0);
  const Episode episode = run_episode(problem, nullptr, {.budget = 1000, .num_samples = 5}, 1);
  const Experience& data = *episode.experience;
  EXPECT_EQ(data.num_rows(), 5 * 6);
  EXPECT_EQ(data.num_samples(), 5);
  EXPECT_NO_THROW(data.validate());
  std::vector<int> prefix(6);
  for (int row = 0; row < data.num_rows(); ++row) {
    data.write_prefix(row, prefix);
    for (int a = 0; a < 2; ++a) {
      const double expected = exact_q(*problem, prefix, data.variable(row), a) - problem->offsets[data.row_levels[row]];
      EXPECT_NEAR(data.target(row)[a], expected, 1e-5) << row;
    }
  }
  // P_X is the target: delta-KL is -log Z at every sample.
  EXPECT_NEAR(episode.delta_kl, -Elimination(problem->graph).log_z(), 1e-9);
}

TEST(Episode, RowsEndWhereTheStoreEnds) {
  const ProblemSource problems = source(12);
  // One evaluation: the root has an evaluated edge, nothing below it has.
  const Episode episode = run_episode(problems.problem(0), nullptr, {.budget = 1, .num_samples = 7}, 1);
  EXPECT_EQ(episode.experience->num_rows(), 7);
  for (const int level : episode.experience->row_levels) EXPECT_EQ(level, 0);
}

TEST(Episode, SameSeedSameBits) {
  ProblemSource problems = source(10);
  const auto network = std::make_shared<const Network>(make_network({}, problems));
  problems.plan_for(*network);
  for (const InferenceMethod method : {InferenceMethod::kTree, InferenceMethod::kSmc}) {
    const EpisodeOptions options = {.method = method, .budget = 200, .num_samples = 20};
    const Episode first = run_episode(problems.problem(3), network, options, 7);
    const Episode again = run_episode(problems.problem(3), network, options, 7);
    const Episode other = run_episode(problems.problem(3), network, options, 8);
    EXPECT_EQ(first.experience->row_targets, again.experience->row_targets);
    EXPECT_EQ(first.experience->samples, again.experience->samples);
    EXPECT_EQ(first.delta_kl, again.delta_kl);
    EXPECT_NE(first.experience->samples, other.experience->samples);
  }
}

// Four particles with hand-set weights on two binary variables without factors but one.
TEST(ParticleTargets, AreSharesOfTheEstimateOfZ) {
  ProblemOptions options;
  options.model_text = "MARKOV 2  2 2  1  1 0  2 1 2.718281828459045";  // psi_0 = (0, 1)
  options.model_format = ".uai";
  const auto problem = ProblemSource(options).problem(0);
  Particles particles;
  particles.states = {0, 0, 0, 1, 1, 1, 1, 1};
  particles.log_weights = {std::log(1.0), std::log(2.0), std::log(3.0), std::log(4.0)};
  particles.log_densities = {0.0, 0.0, 1.0, 1.0};
  const ParticleApproximation approximation(problem->graph, particles);
  const double log_z = 2.0;
  Experience data{.problem = problem, .num_targets = 2};
  data.samples = {1, 1, 0, 0};
  ParticleTargets targets(*problem, approximation, log_z);
  targets.add_rows(std::vector<int>{1, 1}, 0, data);
  targets.add_rows(std::vector<int>{0, 0}, 1, data);
  const auto q = [&](int row, int a) { return data.target(row)[a] + problem->offsets[data.row_levels[row]]; };
  EXPECT_NEAR(q(0, 0), log_z + std::log(0.3), 1e-6);
  EXPECT_NEAR(q(0, 1), log_z + std::log(0.7), 1e-6);
  EXPECT_EQ(q(1, 0), kNegInf);  // no particle is (1, 0)
  EXPECT_NEAR(q(1, 1), log_z + std::log(0.7) - 1.0, 1e-6);
  EXPECT_NEAR(q(3, 0), log_z + std::log(0.1), 1e-6);
  EXPECT_NEAR(q(3, 1), log_z + std::log(0.2), 1e-6);
}

TEST(Episode, SmcTargetsComeCloseToTheExactValues) {
  const ProblemSource problems = source(4);
  const auto problem = problems.problem(0);
  const EpisodeOptions options = {
      .method = InferenceMethod::kSmc, .budget = 400'000, .num_samples = 20, .ess_threshold = 0.0};
  const Episode episode = run_episode(problem, nullptr, options, 1);
  const Experience& data = *episode.experience;
  ASSERT_EQ(data.num_rows(), 80);
  std::vector<int> prefix(4);
  for (int row = 0; row < data.num_rows(); ++row) {
    data.write_prefix(row, prefix);
    for (int a = 0; a < 2; ++a) {
      const double expected = exact_q(*problem, prefix, data.variable(row), a) - problem->offsets[data.row_levels[row]];
      EXPECT_NEAR(data.target(row)[a], expected, 0.1) << row;  // 100000 particles on 16 configurations
    }
  }
}

// Rows of `episode` against enumeration: the interval of each target holds Q*, and is Q* where it is a point.
void expect_bounds(const Episode& episode, bool are_points) {
  const Experience& data = *episode.experience;
  const Problem& problem = *data.problem;
  EXPECT_NO_THROW(data.validate());
  std::vector<int> prefix(problem.graph.num_variables());
  for (int row = 0; row < data.num_rows(); ++row) {
    data.write_prefix(row, prefix);
    for (int a = 0; a < 2; ++a) {
      const double exact = exact_q(problem, prefix, data.variable(row), a) - problem.offsets[data.row_levels[row]];
      const double low = data.target(row)[a];
      const double high = data.high(row).empty() ? low : data.high(row)[a];
      EXPECT_LE(low, exact + 1e-5) << row;
      EXPECT_GE(high, exact - 1e-5) << row;
      if (are_points) {
        EXPECT_NEAR(low, high, 1e-6) << row;
      }
    }
  }
}

TEST(Episode, ExactTargetsAreThoseOfEnumerationAlongSamplesOfTheTarget) {
  const ProblemSource problems = source(8);
  const auto problem = problems.problem(0);
  const EpisodeOptions options = {.targets = TargetKind::kExact, .budget = 10, .num_samples = 3000};
  const Episode episode = run_episode(problem, nullptr, options, 1);
  EXPECT_TRUE(episode.experience->row_highs.empty());
  EXPECT_EQ(episode.experience->num_rows(), 3000 * 8);
  EXPECT_NEAR(episode.delta_kl, -Elimination(problem->graph).log_z(), 1e-9);
  // The first variable's frequency, within five standard errors.
  double ones = 0.0;
  for (int i = 0; i < 3000; ++i) ones += episode.experience->sample(i)[0];
  const double p = enumerate(problem->graph).marginals[0][1];
  EXPECT_NEAR(ones / 3000.0, p, 5.0 * std::sqrt(p * (1.0 - p) / 3000.0) + 1e-9);
  const EpisodeOptions few = {.targets = TargetKind::kExact, .budget = 10, .num_samples = 6};
  expect_bounds(run_episode(problem, nullptr, few, 1), true);
}

// With room for a few entries only, buckets are split: bounds hold the exact values, and the search's are kept within.
TEST(Episode, BoundsHoldTheExactValues) {
  ProblemOptions grid{.family = "ising"};
  grid.values = {{"n", 3}, {"coupling_normal", 1.0}};
  const auto problem = ProblemSource(grid).problem(2);
  const BoundTargets bounds(*problem, 100);
  ASSERT_FALSE(bounds.is_exact());
  Episode episode;
  const auto experience = std::make_shared<Experience>();
  experience->problem = problem;
  experience->num_targets = 2;
  Random random(4);
  int num_intervals = 0;
  for (int i = 0; i < 8; ++i) {
    for (int v = 0; v < 9; ++v) experience->samples.push_back(static_cast<int>(random.below(2)));
    bounds.add_rows(experience->sample(i), i, {}, *experience);
  }
  for (std::size_t i = 0; i < experience->row_targets.size(); ++i) {
    num_intervals += experience->row_highs[i] > experience->row_targets[i] + 1e-3F ? 1 : 0;
  }
  EXPECT_GT(num_intervals, 20);
  episode.experience = experience;
  expect_bounds(episode, false);
  // A value that cannot be is moved to the bound.
  const float high = experience->row_highs[0];
  bounds.add_rows(experience->sample(0), 0, {{0, {1e3, -1e3}}}, *experience);
  const auto row = static_cast<int>(experience->row_levels.size()) - 9;
  EXPECT_EQ(experience->target(row)[0], high);
  EXPECT_EQ(experience->high(row)[0], high);
  EXPECT_EQ(experience->target(row)[1], experience->target(0)[1]);
}

TEST(Episode, ExactTargetsOfWideProblemsAreRefusedByName) {
  ProblemOptions options{.family = "ising"};
  options.values = {{"n", 22}};
  const ProblemSource problems(options);
  const EpisodeOptions exact = {.targets = TargetKind::kExact, .num_samples = 2};
  EXPECT_THROW(run_episode(problems.problem(0), nullptr, exact, 1), Error);
  const EpisodeOptions wrong = {.method = InferenceMethod::kSmc, .targets = TargetKind::kExact};
  EXPECT_THROW(wrong.validate(), Error);
}

// A network of zeros predicts the offset everywhere, so its residual can be computed by hand along all configurations.
TEST(Episode, BellmanResidualIsThatOfItsDefinition) {
  ProblemSource problems = source(6);
  Network network = make_network({}, problems);
  for (float& value : parameters_of(network).values()) value = 0.0F;
  problems.plan_for(network);
  const auto problem = problems.problem(0);
  Reward reward(problem->graph, problem->space);
  Budget unlimited(INT64_MAX, BudgetUnit::kReward);
  double squares = 0.0;
  for (std::size_t i = 0; i < 64; ++i) {
    const Assignment x = configuration_at(problem->graph, i);
    for (int n = 0; n < 6; ++n) {
      const double below = n == 5 ? 0.0 : problem->offsets[n + 1] + std::log(2.0);
      const double residual = reward.evaluate(n, x, unlimited) + below - problem->offsets[n];
      squares += residual * residual / (6.0 * 64.0);
    }
  }
  const auto shared = std::make_shared<const Network>(network);
  EXPECT_NEAR(network_quality(*problem, shared, 20'000, 3).bellman_residual, std::sqrt(squares), 0.02);
}

TEST(Episode, NetworkAloneIsMeasuredWithoutSearch) {
  ProblemSource problems = source(6);
  Network network = make_network({}, problems);
  for (float& value : parameters_of(network).values()) value = 0.0F;  // softmax of equal values: uniform
  problems.plan_for(network);
  const auto problem = problems.problem(0);
  double mean_density = 0.0;
  for (std::size_t i = 0; i < 64; ++i)
    mean_density += problem->graph.log_density(configuration_at(problem->graph, i)) / 64;
  const double expected = -6.0 * std::log(2.0) - mean_density;
  const double measured = network_quality(*problem, std::make_shared<const Network>(network), 20'000, 3).delta_kl;
  EXPECT_NEAR(measured, expected, 0.1);  // standard deviation of the density below 3: 5 standard errors
}

TEST(Episode, OptionsAreChecked) {
  EXPECT_THROW(EpisodeOptions{.budget = 0}.validate(), Error);
  EXPECT_THROW(EpisodeOptions{.ess_threshold = 1.5}.validate(), Error);
  EXPECT_THROW(EpisodeOptions{.num_samples = 0}.validate(), Error);
}

}  // namespace
}  // namespace treesample
