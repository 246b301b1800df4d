#include "experiments/method.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/compare.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/families/family.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/value/elbo_value.hpp"

namespace treesample::experiments {
namespace {

FactorGraph small_chain() { return make_family("chain", {.seed = 1, .values = {{"n", 4.0}, {"k", 3.0}}}).graph; }

TEST(RunMethod, SearchesAreExactWithEnoughBudget) {
  const FactorGraph graph = small_chain();
  const double log_z = enumerate(graph).log_z;
  for (const Contender method :
       {Contender::kTree, Contender::kMass, Contender::kElbo, Contender::kGraph, Contender::kAndOr}) {
    const Outcome outcome = run_method(graph, MethodSetting(method), {.budget = 1000}).value();
    EXPECT_NEAR(log_z + outcome.delta_kl, 0.0, method == Contender::kElbo ? 1e-6 : 1e-10) << word_of(method);
    EXPECT_NEAR(outcome.log_z.value(), log_z, 1e-10);
  }
}

TEST(RunMethod, UniformSpendsNothingAndHasFullEntropy) {
  const FactorGraph graph = small_chain();
  const Outcome outcome = run_method(graph, MethodSetting(Contender::kUniform), {.budget = 1000}).value();
  EXPECT_EQ(outcome.num_evaluations, 0.0);
  EXPECT_NEAR(outcome.entropy, graph.log_num_configurations(), 1e-12);
}

TEST(RunMethod, EveryMethodSpendsAtMostItsBudgetAndHasANonNegativeKl) {
  const FactorGraph graph = small_chain();
  const double log_z = enumerate(graph).log_z;
  for (const Contender method : all_contenders()) {
    const Outcome outcome = run_method(graph, MethodSetting(method), {.budget = 200}).value();
    EXPECT_LE(outcome.num_evaluations, 200.0) << word_of(method);
    EXPECT_GE(log_z + outcome.delta_kl, -1e-9 - 4.0 * outcome.delta_kl_error) << word_of(method);
    EXPECT_NEAR(outcome.delta_kl, -outcome.energy - outcome.entropy, 1e-9) << word_of(method);
    EXPECT_EQ(parse_method("--methods", word_of(method)), method);
  }
  EXPECT_THROW(parse_method("--methods", "magic"), Error);
}

// Two variables, one pair factor and a unary one, so that all means can be written down.
TEST(ElboValue, IsTheMeanOfThePendingFactorsPlusTheLogStates) {
  FactorGraph graph = testing::variables({2, 3});
  graph.add_table({1, 0}, {1, 2, 3, 4, 5, 9});  // rows: variable 1, columns: variable 0
  graph.add_table({0}, {10, 20});
  const SearchSpace space = make_search_space(graph, std::vector<int>{0, 1}, SpaceKind::kTree);
  const ElboValue value(graph, space);
  std::vector<double> q(2);
  value.q_values(0, std::vector<int>{-1, -1}, 1, q);
  for (const double entry : q) EXPECT_NEAR(entry, std::log(3.0) + 24.0 / 6.0 + 15.0, 1e-12);
  std::vector<double> two_rows(6);
  value.q_values(1, std::vector<int>{0, -1, 1, -1}, 2, two_rows);
  for (int a = 0; a < 3; ++a) {
    EXPECT_NEAR(two_rows[a], (1.0 + 3.0 + 5.0) / 3.0, 1e-12);
    EXPECT_NEAR(two_rows[3 + a], (2.0 + 4.0 + 9.0) / 3.0, 1e-12);
  }
}

TEST(Compare, ReferenceIsExactAndBudgetsThatPayForNothingAreLeftOut) {
  const FactorGraph graph = small_chain();
  CompareOptions options;
  options.settings = {MethodSetting(Contender::kAndOr), MethodSetting(Contender::kGibbs)};
  options.budgets = {10, 5000};
  options.num_runs = 2;
  options.model_name = "model";
  const Report report = compare(graph, options, {.num_threads = 2}).value();
  const Table& table = report.tables.at(0);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].at(2), "exact");
  EXPECT_EQ(table.rows[1].at(1), "-");  // ten sweeps cost more than 10
  EXPECT_NE(table.rows[1].at(2), "-");
}

// A chain in one function of all variables, which counts its calls; a queue is what remembers, so that each run pays.
TEST(Compare, BestOfFunctionsPaysForNothingBeyondTheBudgets) {
  const FactorGraph model = small_chain();
  std::int64_t num_calls = 0;
  FactorGraph graph;
  std::vector<int> scope;
  for (int v = 0; v < model.num_variables(); ++v) scope.push_back(graph.add_variable(model.num_states(v)));
  graph.add_factor(Factor::function(scope, [&](std::span<const int> x) {
    ++num_calls;
    return model.log_density(x);
  }));
  CompareOptions options{.aim = Aim::kBest};
  options.settings = {MethodSetting(Contender::kLearned), MethodSetting(Contender::kFrequencies),
                      MethodSetting(Contender::kMetropolis)};
  options.budgets = {5, 81};
  options.num_runs = 3;
  options.model_name = "model";
  EXPECT_EQ(reference_plan(graph, options).calls(), 0);
  const Report report = compare(graph, options, {.num_threads = 1}).value();
  EXPECT_LE(num_calls, most_method_calls(options));
  EXPECT_EQ(most_method_calls(options), 3 * 3 * (5 + 81));
  const Table& table = report.tables.at(0);
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[0].at(2), "0");  // all 81 configurations were asked
  EXPECT_EQ(table.rows[1].at(2), "0");
  EXPECT_NE(table.rows[1].at(1), "0");
  const Enumeration exact = enumerate(model);
  double best = kNegInf;
  for (const double log_prob : exact.log_probs) best = std::max(best, log_prob + exact.log_z);
  EXPECT_NE(report.introduction.find(fmt::format("{:.6f}, and no other is better", best)), std::string::npos)
      << report.introduction;
  EXPECT_THROW(static_cast<void>(compare(model, options, {.num_threads = 1})), Error);
}

TEST(Compare, MetropolisAndLearnedModelAreComparedWithTheTargetOfFunctions) {
  const FactorGraph model = small_chain();
  FactorGraph graph;
  std::vector<int> scope;
  for (int v = 0; v < model.num_variables(); ++v) scope.push_back(graph.add_variable(model.num_states(v)));
  graph.add_factor(Factor::function(scope, [&](std::span<const int> x) { return model.log_density(x); }));
  const double log_z = enumerate(model).log_z;
  for (const Contender method : {Contender::kLearned, Contender::kMetropolis}) {
    const Outcome outcome =
        run_method(graph, MethodSetting(method), {.budget = 40, .unit = BudgetUnit::kCall, .num_samples = 2000})
            .value();
    EXPECT_LE(outcome.num_calls, 40.0);
    EXPECT_GT(outcome.num_calls, 30.0);
    EXPECT_GE(log_z + outcome.delta_kl, -1e-9 - 4.0 * outcome.delta_kl_error);
    EXPECT_NEAR(outcome.delta_kl, -outcome.energy - outcome.entropy, 1e-9);
  }
}

TEST(Compare, WithoutEliminationTheReferenceIsAnEstimateThatAgrees) {
  const FactorGraph graph = small_chain();
  CompareOptions options;
  options.settings = {MethodSetting(Contender::kTree)};
  options.budgets = {20};
  options.max_elimination_entries = 0.0;
  options.model_name = "model";
  const Report report = compare(graph, options, {.num_threads = 1}).value();
  EXPECT_NE(report.introduction.find("importance"), std::string::npos);
  options.max_elimination_entries = 1e9;
  const Report exact = compare(graph, options, {.num_threads = 1}).value();
  EXPECT_NEAR(std::stod(report.tables.at(0).rows.at(0).at(1)), std::stod(exact.tables.at(0).rows.at(0).at(1)), 0.1);
}

TEST(Method, NamesOfContendersAreTheNumbersOfTheirRows) {
  const std::vector<std::pair<Contender, std::string>> words = {{Contender::kSis, "sis"},
                                                                {Contender::kSmc, "smc"},
                                                                {Contender::kGibbs, "gibbs"},
                                                                {Contender::kBp, "bp"},
                                                                {Contender::kTree, "tree"},
                                                                {Contender::kMass, "mass"},
                                                                {Contender::kElbo, "elbo"},
                                                                {Contender::kElboStates, "elbo-states"},
                                                                {Contender::kUniform, "uniform"},
                                                                {Contender::kGraph, "graph"},
                                                                {Contender::kAndOr, "andor"},
                                                                {Contender::kLearned, "learned"},
                                                                {Contender::kMetropolis, "metropolis"},
                                                                {Contender::kFrequencies, "frequencies"}};
  for (const auto& [contender, word] : words) EXPECT_EQ(word_of(contender), word);
}

}  // namespace
}  // namespace treesample::experiments
