#include "treesample/train/problem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/io/uai.hpp"
#include "treesample/reduce/evidence.hpp"
#include "treesample/train/learner.hpp"

namespace treesample {
namespace {

FactorGraph small_graph(std::uint64_t seed) {
  return make_family("factor-graphs-2", {.seed = seed, .values = {{"n", 8}}}).graph;
}

ProblemOptions with_evidence(std::vector<std::string> variables) {
  return {.model_text = format_uai(small_graph(3)),
          .model_format = ".uai",
          .evidence_variables = std::move(variables),
          .seed = 5};
}

// The problem is the model conditioned on the states of two variables, which come as often as the model says.
TEST(ProblemSource, EvidenceIsDrawnFromTheModelAndTheModelConditionedOnIt) {
  const FactorGraph graph = small_graph(3);
  const Enumeration exact = enumerate(graph);
  const ProblemSource problems(with_evidence({"x1", "x6"}));
  std::vector<double> log_zs(4);
  for (int states = 0; states < 4; ++states) {
    const Evidence evidence = {{1, states / 2}, {6, states % 2}};
    log_zs[states] = enumerate(condition(graph, evidence).graph).log_z;
  }
  // Evidence is told by its Z; states whose Z are equal count together.
  const auto group_of = [&](double log_z) {
    int group = 0;
    while (group < 4 && std::abs(log_zs[group] - log_z) >= 1e-9) ++group;
    return group;
  };
  std::vector<int> counts(4);
  std::vector<double> expected(4);
  for (const double log_z : log_zs) expected[group_of(log_z)] += std::exp(log_z - exact.log_z);
  constexpr int kProblems = 2000;
  for (int id = 0; id < kProblems; ++id) {
    const auto problem = problems.problem(id);
    ASSERT_EQ(problem->graph.num_variables(), 6);
    const int group = group_of(enumerate(problem->graph).log_z);
    ASSERT_LT(group, 4);
    ++counts[group];
  }
  int num_groups = 0;
  for (int group = 0; group < 4; ++group) {
    const double p = expected[group];
    num_groups += p > 0.0 ? 1 : 0;
    EXPECT_NEAR(counts[group] / double{kProblems}, p, 5.0 * std::sqrt(p * (1.0 - p) / kProblems)) << group;
  }
  EXPECT_GE(num_groups, 3) << "the test can tell evidence apart";
  // The same number gives the same problem.
  EXPECT_EQ(enumerate(problems.problem(7)->graph).log_z, enumerate(problems.problem(7)->graph).log_z);
}

TEST(ProblemSource, ModelsTakeTurnsAndShareANetwork) {
  ProblemOptions options;
  for (const std::uint64_t seed : {1, 2}) options.models.emplace_back(format_uai(small_graph(seed)), ".uai");
  FactorGraph wide = testing::variables({3, 2});
  wide.add_table({0, 1}, {0.0, 1.0, 2.0, 0.5, 0.25, -1.0});
  options.models.emplace_back(format_uai(wide), ".uai");
  ProblemSource problems(options);
  EXPECT_EQ(problems.max_states(), 3);
  EXPECT_EQ(problems.network_kinds(), std::vector<std::string>{kTableKind});
  const Network network = make_network({}, problems);
  problems.plan_for(network);
  for (std::uint64_t id = 0; id < 6; ++id) {
    const auto problem = problems.problem(id);
    EXPECT_EQ(problem->graph.num_variables(), id % 3 == 2 ? 2 : 8);
    EXPECT_TRUE(problem->plan.has_value());
  }
}

TEST(ProblemSource, AGeneratorMakesAnotherModelForEachProblem) {
  ProblemOptions options;
  std::set<std::uint64_t> numbers;
  int num_states = 3;
  options.generator = [&](std::uint64_t number) {
    EXPECT_LT(number, std::uint64_t{1} << 31);
    numbers.insert(number);
    FactorGraph graph = testing::variables({num_states});
    graph.add_table({0}, std::vector<double>(num_states, static_cast<double>(number % 1000)));
    return graph;
  };
  options.generator_name = "of the test";
  ProblemSource problems(options);
  EXPECT_EQ(problems.max_states(), 3);
  EXPECT_EQ(problems.network_kinds(), std::vector<std::string>{kTableKind});
  problems.plan_for(make_network({}, problems));
  const auto first_value = [&](std::uint64_t id) { return problems.problem(id)->graph.factor(0).log_values()[0]; };
  numbers.clear();
  for (const std::uint64_t id : {1, 2, 3}) EXPECT_EQ(first_value(id), first_value(id));
  EXPECT_EQ(numbers.size(), 3U);
  num_states = 4;  // more than the network was made for
  EXPECT_THROW(problems.problem(99), Error);
}

TEST(ProblemSource, OptionsThatDoNotGoTogetherAreRefused) {
  EXPECT_THROW(ProblemSource(with_evidence({"nobody"})), Error);
  ProblemOptions family;
  family.evidence_variables = {"x1"};
  EXPECT_THROW(ProblemSource{family}, Error);
  ProblemOptions both = with_evidence({});
  both.models.emplace_back(both.model_text, ".uai");
  EXPECT_THROW(ProblemSource{both}, Error);
  ProblemOptions generated = with_evidence({});
  generated.generator = [](std::uint64_t number) { return small_graph(number); };
  EXPECT_THROW(ProblemSource{generated}, Error);
  generated.model_text.clear();
  EXPECT_NO_THROW(ProblemSource{generated});
  generated.evidence_variables = {"x1"};
  EXPECT_THROW(ProblemSource{generated}, Error);
}

}  // namespace
}  // namespace treesample
