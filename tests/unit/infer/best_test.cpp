// A most probable configuration in every answer, whatever the method.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "support/random_models.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/io/model_file.hpp"

namespace treesample {
namespace {

TEST(Best, EveryMethodHasOne) {
  Model clinic(read_model(TREESAMPLE_SOURCE_DIR "/examples/models/asia.bif"));
  clinic.observe("xray", "yes");
  const int xray = 6;
  const Answer exact = infer(clinic, {}, {}, {.method = Method::kExact});
  ASSERT_TRUE(exact.best);
  for (const Method method :
       {Method::kExact, Method::kCount, Method::kSis, Method::kSmc, Method::kGibbs, Method::kBp}) {
    const Answer answer = infer(clinic, {}, {.budget = 5000}, {.method = method});
    ASSERT_TRUE(answer.best) << to_string(method);
    EXPECT_EQ(answer.best->x[xray], 0) << to_string(method);
    EXPECT_NEAR(answer.best->log_density, clinic.graph.log_density(answer.best->x), 1e-12) << to_string(method);
    EXPECT_LE(answer.best->log_density, exact.best->log_density + 1e-12) << to_string(method);
    if (answer.is_best_optimal == true) {
      EXPECT_NEAR(answer.best->log_density, exact.best->log_density, 1e-9);
    }
  }
  for (const SelectRule rule : {SelectRule::kQUct, SelectRule::kGap, SelectRule::kMass}) {
    const Answer answer = infer(clinic, {}, {.budget = 300}, {.method = Method::kSearch, .select = rule});
    ASSERT_TRUE(answer.best) << to_string(rule);
    EXPECT_EQ(answer.best->x[xray], 0) << to_string(rule);
    EXPECT_NEAR(answer.best->log_density, clinic.graph.log_density(answer.best->x), 1e-12) << to_string(rule);
    EXPECT_LE(answer.best->log_density, exact.best->log_density + 1e-12) << to_string(rule);
  }
}

// Everything was evaluated, or bounds exclude the rest.
// Digits are not lost to the large values of other configurations.
TEST(Best, ItsDensityIsThatOfTheTables) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed, "best density");
    const FactorGraph graph = testing::random_model(random, {.num_variables = 3, .num_factors = 4, .scale = 1e5});
    for (const LeafKind leaf : {LeafKind::kUniform, LeafKind::kElbo}) {
      const Answer answer = infer(graph, {}, {.budget = 50}, {.select = SelectRule::kQUct, .leaf = LeafChoice{leaf}});
      ASSERT_TRUE(answer.best);
      EXPECT_EQ(answer.best->log_density, graph.log_density(answer.best->x)) << seed;
    }
  }
}

TEST(Best, FunctionsThatWereAllEvaluatedHaveAnOptimum) {
  for (const bool has_maximum : {false, true}) {
    FactorGraph graph = testing::variables(3, 3);
    graph.add_factor(Factor::function(
        {0, 1, 2}, [](std::span<const int> x) { return std::sin(1.0 + x[0] + 2.0 * x[1] * x[2]) + 0.3 * x[2]; },
        has_maximum ? std::optional(2.0) : std::nullopt));
    graph.add_table({0, 1}, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9});
    Configuration best{{}, -HUGE_VAL};
    for (int i = 0; i < 27; ++i) {
      const Assignment x{i / 9, i / 3 % 3, i % 3};
      if (graph.log_density(x) > best.log_density) best = {x, graph.log_density(x)};
    }
    for (const SpaceKind space : {SpaceKind::kTree, SpaceKind::kGraph, SpaceKind::kAndOr}) {
      const Answer answer =
          infer(graph, {}, {}, {.method = Method::kSearch, .select = SelectRule::kQUct, .space = space});
      ASSERT_TRUE(answer.is_exact && answer.best) << to_string(space);
      EXPECT_EQ(answer.best->x, best.x) << to_string(space);
      EXPECT_EQ(answer.is_best_optimal, true) << to_string(space) << answer.best_gap.value_or(HUGE_VAL);
    }
    for (const SelectRule rule : {SelectRule::kMass, SelectRule::kGap}) {
      if (rule == SelectRule::kGap && !has_maximum) continue;
      const Answer answer = infer(graph, {}, {}, {.method = Method::kSearch, .select = rule});
      ASSERT_TRUE(answer.is_exact && answer.best) << to_string(rule);
      EXPECT_EQ(answer.best->x, best.x) << to_string(rule);
      EXPECT_EQ(answer.is_best_optimal, true) << to_string(rule) << answer.best_gap.value_or(HUGE_VAL);
      const Answer part =
          infer(graph, {}, {.budget = 6, .unit = BudgetUnit::kCall}, {.method = Method::kSearch, .select = rule});
      if (part.best_gap) {
        EXPECT_LE(best.log_density - part.best->log_density, *part.best_gap) << to_string(rule);
      }
    }
  }
}

// A model of tables makes no calls that a budget of calls could end.
TEST(Best, LearningFromTablesEndsWithoutALimit) {
  const FactorGraph graph = read_model(TREESAMPLE_SOURCE_DIR "/examples/models/cold_store.bif");
  const Limits planned = plan(graph, {}, {}, {.method = Method::kLearned}).request.limits;
  EXPECT_EQ(planned.budget, 1000);
  EXPECT_EQ(planned.unit, BudgetUnit::kCall);
  const Answer answer = infer(graph, {}, {.budget = 30}, {.method = Method::kLearned});
  EXPECT_EQ(answer.stop, StopReason::kBudget);
  EXPECT_EQ(answer.spent.reward_evaluations, 30);
  ASSERT_TRUE(answer.best);
  EXPECT_NEAR(answer.best->log_density, graph.log_density(answer.best->x), 1e-12);
}

// Two variables that must differ: the most believed states, here the first of each, do not go together.
TEST(Best, BeliefsThatDoNotGoTogetherStillHaveOne) {
  FactorGraph graph = testing::variables({3, 3});
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  graph.add_table({0, 1}, {kNever, 0.0, 0.0, 0.0, kNever, -2.0, 0.0, -2.0, kNever});
  const Answer answer = infer(graph, {}, {}, {.method = Method::kBp});
  ASSERT_TRUE(answer.best);
  EXPECT_EQ(answer.marginals[0][0] > answer.marginals[0][1], true);
  EXPECT_TRUE(std::isfinite(answer.best->log_density));
  EXPECT_NE(answer.best->x[0], answer.best->x[1]);
}

// However little time there is, where there is a configuration there are states, between bounds that hold.
TEST(MarginalMap, HasStatesWithoutTime) {
  const FactorGraph graph = read_model(TREESAMPLE_SOURCE_DIR "/examples/models/ising-8x8.uai");
  std::vector<std::string> wanted;
  for (int v = 0; v < 64; v += 2) wanted.push_back("x" + std::to_string(v));
  const Answer answer = infer(graph, {.map = wanted}, {.seconds = 1e-4});
  ASSERT_TRUE(answer.best && answer.map);
  ASSERT_EQ(answer.map->states.size(), wanted.size());
  Evidence given;
  for (std::size_t i = 0; i < wanted.size(); ++i) given.push_back({answer.map->variables[i], answer.map->states[i]});
  const double sum = Elimination(condition(graph, given).graph).log_z();
  EXPECT_TRUE(std::isfinite(answer.map->log_value.lower));
  EXPECT_LE(answer.map->log_value.lower, sum + 1e-9);
  EXPECT_GE(answer.map->log_value.upper, sum - 1e-9);
  EXPECT_GE(answer.map->log_upper, answer.map->log_value.lower);
}

// Of an impossible model there is none.
TEST(Best, AnImpossibleModelHasNone) {
  Model clinic(read_model(TREESAMPLE_SOURCE_DIR "/examples/models/asia.bif"));
  clinic.observe("lung", "yes").observe("either", "no");
  for (const Method method : {Method::kExact, Method::kCount, Method::kSmc, Method::kBp}) {
    EXPECT_FALSE(infer(clinic, {}, {.budget = 1000}, {.method = method}).best) << to_string(method);
  }
}

}  // namespace
}  // namespace treesample
