
#include "treesample/evaluate/annealed_importance.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "baselines/gibbs_kernel.hpp"
#include "evaluate/annealing_model.hpp"
#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/exact/enumeration.hpp"

namespace treesample {
namespace {

using testing::random_model;

// ---- Sweeps

TEST(AnnealingModel, KnowsTheDensity) {
  for (int trial = 0; trial < 30; ++trial) {
    Random random(static_cast<std::uint64_t>(trial), "density");
    const FactorGraph graph = random_model(random, {.min_states = 1 + trial % 2, .max_states = 2 + trial % 3});
    const AnnealingModel model(graph, -12.0);
    const BaseLogProbs base = model.fields();
    LaneStates states = model.states();
    Random seeds(7, "lanes");
    LaneRandom lanes(seeds);
    model.draw_base(states, base, lanes);
    Assignment x(graph.num_variables());
    for (int round = 0; round < 3; ++round) {
      for (int lane = 0; lane < kLanes; ++lane) {
        states.read(lane, x);
        EXPECT_NEAR(states.log_density[lane], graph.log_density(x), 1e-10) << trial << ", " << round;
      }
      if (round == 0) model.sweep(states, base, 0.7, lanes);
      if (round == 1) model.sweep_back(states, base, 0.3, lanes);
    }
  }
}

// At b = 1 the chances are the conditionals that Gibbs sampling draws from. The last variable of a sweep sees the
// states that the sweep leaves.
TEST(AnnealingModel, DrawsFromTheConditionals) {
  for (int trial = 0; trial < 20; ++trial) {
    Random random(static_cast<std::uint64_t>(trial), "conditionals");
    const FactorGraph graph =
        random_model(random, {.min_states = 2, .max_states = 4, .zero_probability = trial % 2 == 0 ? 0.0 : 0.2});
    const AnnealingModel model(graph, -1e30);
    LaneStates states = model.states();
    Random seeds(3, "lanes");
    LaneRandom lanes(seeds);
    model.draw_base(states, AnnealingModel(graph, -12.0).fields(), lanes);
    std::vector<double> chances(static_cast<std::size_t>(model.num_states_in_all()) * kLanes, 0.0);
    model.sweep(states, model.fields(), 1.0, lanes, chances.data());
    GibbsKernel kernel(graph);
    const int last = graph.num_variables() - 1;
    Assignment x(graph.num_variables());
    for (int lane = 0; lane < kLanes; ++lane) {
      states.read(lane, x);
      if (graph.log_density(x) == kNegInf) continue;
      const std::span<const double> expected = kernel.conditional(last, x);
      for (int a = 0; a < graph.num_states(last); ++a) {
        EXPECT_NEAR(chances[static_cast<std::size_t>(model.first_state(last) + a) * kLanes + lane], expected[a], 1e-12);
      }
    }
  }
}

TEST(AnnealingModel, RefusesFunctions) {
  Random random(1, "functions");
  const FactorGraph graph = random_model(random, {.function_probability = 1.0});
  testing::expect_error(ErrorCode::kArgument, "functions", [&] { AnnealingModel(graph, -12.0); });
}

// ---- Chains

FactorGraph glass() {
  Random random(5, "glass");
  return random_model(random, {.num_variables = 12, .min_states = 2, .num_factors = 30, .min_arity = 2});
}

TEST(AnnealedImportance, HasTheSameBitsForAnyNumberOfThreads) {
  const FactorGraph graph = glass();
  const auto run = [&](int threads) {
    return annealed_importance(graph, {.budget = 200'000, .threads = threads}, {.seed = 4});
  };
  const AnnealedResult one = run(1), three = run(3);
  EXPECT_EQ(one.report.estimate, three.report.estimate);
  EXPECT_EQ(one.report.log_lower, three.report.log_lower);
  EXPECT_EQ(one.report.num_chains, three.report.num_chains);
  EXPECT_EQ(one.marginals, three.marginals);
  EXPECT_EQ(one.best.x, three.best.x);
}

TEST(AnnealedImportance, KeepsToItsBudget) {
  const FactorGraph graph = glass();
  for (const std::int64_t budget : {1000, 3000, 20'000, 300'000}) {
    const AnnealedResult result = annealed_importance(graph, {.budget = budget, .threads = 1}, {.min_chains = 0});
    EXPECT_LE(result.report.spent.reward_evaluations, budget);
    EXPECT_GT(result.report.num_chains, 0) << budget;
  }
  testing::expect_error(ErrorCode::kArgument, "pays for no 8 chains",
                        [&] { annealed_importance(graph, {.budget = 10, .threads = 1}, {.min_chains = 0}); });
}

TEST(AnnealedImportance, EndsWhenAsked) {
  const FactorGraph graph = glass();
  int num_told = 0;
  const AnnealedResult result = annealed_importance(
      graph, {.threads = 1}, {.num_temperatures = 50},
      {.progress = [&](const Progress&) { ++num_told; }, .should_stop = [&] { return num_told >= 3; }});
  EXPECT_EQ(result.report.stop, StopReason::kInterrupted);
  EXPECT_GE(result.report.num_chains, 3 * kLanes);
  EXPECT_LT(result.report.num_chains, 1000);
}

// A variable whose states are all impossible: no chain can end in a possible one.
TEST(AnnealedImportance, SaysWhenAllIsImpossible) {
  FactorGraph graph = testing::variables(2, 2);
  graph.add_table({0, 1}, {kNegInf, kNegInf, kNegInf, kNegInf});
  const AnnealedResult result = annealed_importance(graph, {.budget = 2000, .threads = 1}, {});
  EXPECT_EQ(result.report.estimate, kNegInf);
  EXPECT_EQ(result.report.log_lower, kNegInf);
  EXPECT_EQ(result.report.num_impossible, result.report.num_chains);
  EXPECT_TRUE(result.marginals.empty());
  EXPECT_FALSE(std::isnan(result.report.std_error));
}

// Independent variables: every weight is Z, and one temperature is enough.
TEST(AnnealedImportance, IsExactForIndependentVariables) {
  FactorGraph graph = testing::variables({2, 3});
  graph.add_table({0}, {0.3, -1.0});
  graph.add_table({1}, {2.0, 0.0, 1.0});
  const AnnealedResult result = annealed_importance(graph, {.threads = 1}, {.num_temperatures = 1, .max_chains = 1000});
  const Enumeration exact = enumerate(graph);
  EXPECT_NEAR(result.report.estimate, exact.log_z, 1e-12);
  EXPECT_LE(result.report.log_lower, exact.log_z);
  EXPECT_GT(result.report.log_lower, exact.log_z - 0.01);
  EXPECT_NEAR(result.marginals[1][2], exact.marginals[1][2], 1e-12);
}

TEST(AnnealedUpper, IsNothingWithoutSamples) {
  const FactorGraph graph = glass();
  const AnnealedResult forward = annealed_importance(graph, {.budget = 20'000, .threads = 1});
  EXPECT_EQ(annealed_upper(*forward.path, {}, {.threads = 1}, {}).log_upper, HUGE_VAL);
}

}  // namespace
}  // namespace treesample
