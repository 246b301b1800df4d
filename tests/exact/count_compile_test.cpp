// Models that infer() compiles, and circuits as models: the same answers as from the original model, for any evidence
// and weights.
#include <gtest/gtest.h>

#include <cmath>

#include "support/random_models.hpp"
#include "support/trials.hpp"
#include "support/zero_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {
namespace {

using testing::below;
using testing::num_trials;

Evidence random_evidence(const FactorGraph& graph, Random& random) {
  Evidence evidence;
  for (int v = 0; v < graph.num_variables(); ++v) {
    if (random.uniform() < 0.3) evidence.push_back({v, below(random, graph.num_states(v))});
  }
  return evidence;
}

StateWeights random_weights(const FactorGraph& graph, Random& random) {
  StateWeights weights;
  for (int v = 0; v < graph.num_variables(); ++v) {
    weights.emplace_back();
    for (int s = 0; s < graph.num_states(v); ++s) {
      weights.back().push_back(random.uniform() < 0.1 ? kNegInf : 2.0 * random.normal());
    }
  }
  return weights;
}

FactorGraph multiplied(FactorGraph graph, const StateWeights& weights) {
  for (int v = 0; v < graph.num_variables(); ++v) graph.add_table({v}, weights[v]);
  return graph;
}

// Both answers must be exact.
void expect_same(const Answer& compiled, const Answer& fresh) {
  ASSERT_TRUE(compiled.log_z && fresh.log_z);
  EXPECT_TRUE(compiled.is_exact && fresh.is_exact);
  if (*fresh.log_z == kNegInf) {
    EXPECT_EQ(*compiled.log_z, kNegInf);
    EXPECT_TRUE(compiled.marginals.empty());
    return;
  }
  EXPECT_LE(*compiled.lower, *fresh.upper);
  EXPECT_GE(*compiled.upper, *fresh.lower);
  ASSERT_EQ(compiled.marginals.size(), fresh.marginals.size());
  for (std::size_t v = 0; v < fresh.marginals.size(); ++v) {
    for (std::size_t s = 0; s < fresh.marginals[v].size(); ++s) {
      EXPECT_NEAR(compiled.marginals[v][s], fresh.marginals[v][s], 1e-9);
    }
  }
  EXPECT_EQ(compiled.is_best_optimal, true);
  EXPECT_NEAR(compiled.best->log_density, fresh.best->log_density, 1e-9 * (1.0 + std::abs(fresh.best->log_density)));
}

// A compiled model answers like a new one, for num_changes random weights and evidence.
void expect_same_answers(const FactorGraph& graph, int num_changes, Random& random) {
  const Evidence at_first = random_evidence(graph, random);
  const Answer answer = infer(Model(graph, at_first), {}, {}, {.compile = true});
  expect_same(answer, infer(Model(graph, at_first)));
  ASSERT_NE(answer.circuit, nullptr);
  for (int change = 0; change < num_changes; ++change) {
    SCOPED_TRACE(change);
    const Evidence evidence = random_evidence(graph, random);
    const StateWeights weights = random_weights(graph, random);
    const auto changed = std::make_shared<const Circuit>(answer.circuit->with(weights));
    expect_same(infer(Model(changed, evidence), {.samples = 2}), infer(Model(multiplied(graph, weights), evidence)));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(CountCompile, AnswersAsAfreshForRandomWeightsAndEvidence) {
  Random random(1, "compile");
  expect_same_answers(testing::coloured_grid(3, 4, 3), 100, random);
  expect_same_answers(testing::multiplier(3, 12), 100, random);
  expect_same_answers(testing::queens(6), 100, random);
  int num_compiled = 0;
  for (int trial = 0; trial < num_trials(30); ++trial) {
    SCOPED_TRACE(trial);
    testing::RandomCspOptions kind{.num_variables = 5 + below(random, 8),
                                   .max_states = 2 + below(random, 3),
                                   .num_factors = 8,
                                   .zeros = 0.2 + 0.4 * random.uniform()};
    const FactorGraph graph = testing::random_csp(random, kind);
    if (infer(Model(graph)).log_z == kNegInf) continue;
    ++num_compiled;
    expect_same_answers(graph, 10, random);
    if (HasFailure()) return;
  }
  EXPECT_GT(num_compiled, 10);
}

TEST(CountCompile, EqualsEnumerationWithEvidence) {
  for (int trial = 0; trial < num_trials(200); ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "compile enumeration");
    testing::RandomCspOptions kind{.num_variables = 5, .max_states = 3, .num_factors = 5, .zeros = 0.3};
    const FactorGraph graph = testing::random_csp(random, kind);
    const Evidence evidence = random_evidence(graph, random);
    const ReducedModel given = condition(graph, evidence);
    const Enumeration truth = enumerate(given.graph);
    const Answer answer = infer(Model(graph, evidence), {.samples = 3}, {}, {.compile = true});
    ASSERT_TRUE(answer.log_z);
    if (truth.log_z == kNegInf) {
      EXPECT_EQ(*answer.log_z, kNegInf);
      continue;
    }
    EXPECT_NEAR(*answer.log_z, truth.log_z, 1e-9);
    const Marginals expected = given.lift(truth.marginals);
    for (int v = 0; v < graph.num_variables(); ++v) {
      for (int s = 0; s < graph.num_states(v); ++s) EXPECT_NEAR(answer.marginals[v][s], expected[v][s], 1e-9);
    }
    ASSERT_EQ(answer.samples.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(given.lower(answer.samples[i]));
      EXPECT_NEAR(answer.sample_log_probs[i], graph.log_density(answer.samples[i]) - truth.log_z, 1e-9);
    }
  }
}

// With two threads, whichever one answers must give the right answer.
TEST(CountPortfolio, EqualsOneThread) {
  for (int trial = 0; trial < num_trials(12); ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "portfolio");
    const FactorGraph graph =
        trial % 3 == 0 ? testing::random_clauses(random, 24, 60) : testing::coloured_grid(4, 3 + trial % 4, 3);
    const Question question{.samples = 2};
    const InferOptions search{.select = SelectRule::kGap};
    for (const InferOptions& options : {InferOptions(), search}) {
      const Answer one = infer(Model(graph), question, {.seconds = 100.0}, options);
      const Answer two = infer(Model(graph), question, {.seconds = 100.0, .threads = 2}, options);
      EXPECT_TRUE(one.is_exact && two.is_exact);
      EXPECT_LE(*one.lower, *two.upper);
      EXPECT_GE(*one.upper, *two.lower);
      EXPECT_EQ(two.samples.size(), 2U);
    }
  }
}

// With every method, a point estimate is certified or has certified bounds.
TEST(Estimates, AreNeverAlone) {
  Random random(3, "estimates");
  const FactorGraph graph = testing::random_clauses(random, 30, 80);
  const double log_z = *infer(Model(graph)).log_z;
  const std::vector<InferOptions> ways{{.method = Method::kSis},
                                       {.method = Method::kSmc},
                                       {.method = Method::kBp},
                                       {.method = Method::kSearch, .select = SelectRule::kQUct},
                                       {.method = Method::kSearch, .select = SelectRule::kGap},
                                       {.method = Method::kSearch, .select = SelectRule::kMass},
                                       {.method = Method::kCount}};
  for (const InferOptions& way : ways) {
    SCOPED_TRACE(to_string(*way.method));
    const Answer answer = infer(Model(graph), {}, {.budget = 300}, way);
    if (!answer.log_z) continue;
    ASSERT_TRUE(answer.lower && answer.upper);
    EXPECT_LE(*answer.lower, log_z + 1e-9);
    EXPECT_GE(*answer.upper, log_z - 1e-9);
    EXPECT_LE(*answer.lower, *answer.log_z);
    EXPECT_GE(*answer.upper, *answer.log_z);
    EXPECT_STRNE(answer.log_z_kind(), "");
    EXPECT_EQ(std::string(answer.log_z_kind()) == "exact", answer.is_exact);
  }
  const Answer cut = infer(Model(testing::coloured_grid(9, 9, 4)), {}, {.seconds = 0.0}, {.method = Method::kCount});
  EXPECT_TRUE(!cut.log_z || std::string(cut.log_z_kind()) == "lower bound");
}

TEST(CountCompile, WhatCannotBeCompiledIsAnsweredInTheUsualWay) {
  std::string remarks;
  const Observer observer{.remark = [&](const std::string& text) { remarks += text + "\n"; }};
  const FactorGraph none = testing::pigeons(4, 3);
  const Answer impossible = infer(Model(none), {}, {}, {.compile = true}, observer);
  EXPECT_EQ(impossible.circuit, nullptr);
  EXPECT_EQ(*impossible.log_z, kNegInf);
  EXPECT_NE(remarks.find("impossible"), std::string::npos) << remarks;
  remarks.clear();
  const Answer small =
      infer(Model(testing::coloured_grid(4, 4, 3)), {}, {.bytes = 100'000}, {.compile = true}, observer);
  EXPECT_EQ(small.circuit, nullptr);
  EXPECT_NE(remarks.find("memory"), std::string::npos) << remarks;
  ASSERT_TRUE(small.lower && small.upper);
  EXPECT_LE(*small.lower, std::log(7812.0) + 1e-9);
  EXPECT_GE(*small.upper, std::log(7812.0) - 1e-9);
}

TEST(CountCompile, SoftEvidenceIsWeights) {
  Random random(2, "compile soft");
  const FactorGraph graph = testing::coloured_grid(3, 3, 3);
  Model model(graph, {{0, 1}});
  model.soft_evidence = {{4, {0.5, 0.0, 2.0}}, {8, {1.0, 3.0, 0.25}}};
  const Answer fresh = infer(model);
  const Answer compiled = infer(model, {}, {}, {.compile = true});
  expect_same(compiled, fresh);
  Model again(compiled.circuit, model.evidence);
  again.soft_evidence = model.soft_evidence;
  expect_same(infer(again), fresh);
}

std::shared_ptr<const Circuit> one_free_variable() {
  FactorGraph graph = testing::variables({2});
  return infer(Model(graph), {}, {}, {.compile = true}).circuit;
}

// The numbers of a circuit may be as far apart as exp(-1e9) and exp(1e9).
// Of the question with its evidence, and not of the model that is compiled.
TEST(CountCompile, BoundsThatAreReportedHold) {
  Random random(5, "reported");
  for (int trial = 0; trial < 20; ++trial) {
    Model model(testing::random_csp(random, {.num_variables = 8, .num_factors = 8, .zeros = 0.2}));
    model.evidence = random_evidence(model.graph, random);
    if (trial % 2 == 0) model.soft_evidence = {{0, std::vector(model.graph.num_states(0), 0.5)}};
    LogBounds told;
    const auto tell = [&](const Progress& now) {
      told = {std::max(told.lower, now.log_z.lower), std::min(told.upper, now.log_z.upper)};
    };
    const Answer answer = infer(model, {}, {}, {.compile = true}, {.progress = tell});
    ASSERT_TRUE(answer.is_exact);
    EXPECT_LE(told.lower, *answer.upper) << trial;
    EXPECT_GE(told.upper, *answer.lower) << trial;
  }
}

TEST(CountCompile, WeightsOfOppositeSignsMayBeFarApart) {
  std::shared_ptr<const Circuit> circuit = one_free_variable();
  ASSERT_NE(circuit, nullptr);
  Circuit weighted = *circuit;
  constexpr int kTimes = 900;
  for (int i = 0; i < kTimes; ++i) weighted = weighted.with({{1e6, -1e6}});
  EXPECT_LE(weighted.log_z().lower, kTimes * 1e6);
  EXPECT_GE(weighted.log_z().upper, kTimes * 1e6);
}

// Weights that cancel, and logarithms that are known to one unit in the last place each.
TEST(CountCompile, SeveralTablesOfAStateEachHaveTheirRounding) {
  const std::shared_ptr<const Circuit> circuit = one_free_variable();
  ASSERT_NE(circuit, nullptr);
  FactorGraph tables = testing::variables({2});
  tables.add_table({0}, {std::log(34e292), kNegInf});
  tables.add_table({0}, {std::log(1e-292), 0.0});
  Circuit weighted = *circuit;
  ASSERT_EQ(state_weights(tables).size(), 2U);
  for (const StateWeights& weights : state_weights(tables)) weighted = weighted.with(weights);
  EXPECT_LE(weighted.log_z().lower, std::log(34.0));
  EXPECT_GE(weighted.log_z().upper, std::log(34.0));
  FactorGraph cancelling = testing::variables({2});
  for (const double value : {1e17, 3.0, -1e17}) cancelling.add_table({0}, {value, 0.0});
  EXPECT_THROW((void)circuit->with(state_weights(cancelling).front()), Error);
}

// 1 + 1e-16 in a file is 1 as a double, and its logarithm is 0.
TEST(CountCompile, NumbersNearOneHaveTheirRounding) {
  const std::shared_ptr<const Circuit> circuit = one_free_variable();
  ASSERT_NE(circuit, nullptr);
  Circuit weighted = *circuit;
  constexpr int kTimes = 1000;
  for (int i = 0; i < kTimes; ++i) weighted = weighted.with({{std::log(1.0 + 1e-16), std::log(1.0 + 1e-16)}});
  EXPECT_GE(weighted.log_z().upper, std::log(2.0) + kTimes * 1e-16);
  EXPECT_EQ(circuit->with({{}}).log_z().upper, circuit->log_z().upper);
}

// The answer that comes with a circuit says as much about the evidence as any other.
TEST(CountCompile, TheEvidenceIsJudgedAsUsual) {
  FactorGraph graph;  // a network: x1 is a copy of x0
  graph.add_variable(2);
  graph.add_variable(2);
  graph.add_table({0}, {std::log(0.25), std::log(0.75)});
  graph.add_table({0, 1}, {0.0, kNegInf, kNegInf, 0.0});
  const Answer compiled = infer(Model(graph, {{1, 0}}), {}, {}, {.compile = true});
  ASSERT_TRUE(compiled.evidence_probability());
  EXPECT_NEAR(*compiled.evidence_probability(), 0.25, 1e-12);
  const Answer impossible = infer(Model(graph, {{0, 1}, {1, 0}}), {}, {}, {.compile = true});
  EXPECT_EQ(impossible.log_z, kNegInf);
  EXPECT_EQ(impossible.conflict.states.size(), 2U);
}

TEST(CountCompile, RefusesWhatMakesNoSense) {
  const FactorGraph graph = testing::queens(5);
  EXPECT_THROW((void)infer(Model(graph), {}, {}, {.method = Method::kGibbs, .compile = true}), OptionError);
  EXPECT_THROW((void)infer(Model(graph, {{0, 9}}), {}, {}, {.compile = true}), Error);
  const Answer answer = infer(Model(graph), {}, {}, {.compile = true});
  ASSERT_NE(answer.circuit, nullptr);
  EXPECT_THROW((void)infer(Model(answer.circuit, {{0, 9}})), Error);
  EXPECT_THROW((void)infer(Model(answer.circuit), {}, {}, {.method = Method::kExact}), OptionError);
  EXPECT_THROW((void)infer(Model(answer.circuit), {}, {}, {.compile = true}), OptionError);
  EXPECT_EQ(plan(Model(answer.circuit)).method, Method::kCount);
  FactorGraph pair = testing::variables({2, 2});
  pair.add_table({0, 1}, {0.0, 0.0, 0.0, 0.0});
  EXPECT_THROW((void)state_weights(pair), Error);
}

}  // namespace
}  // namespace treesample
