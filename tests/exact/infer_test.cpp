// infer() on small random models against enumeration, with every method that is exact there.
#include "treesample/infer/infer.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/families/family.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

using testing::random_model;

// The first variable is observed in its last state.
Evidence some_evidence(const FactorGraph& graph) { return {{0, graph.num_states(0) - 1}}; }

void expect_exact(const Answer& answer, const FactorGraph& graph, const Evidence& evidence, const char* what) {
  FactorGraph observed = graph;
  for (const auto& [variable, state] : evidence) {
    std::vector<double> values(observed.num_states(variable), kNegInf);
    values[state] = 0.0;
    observed.add_table({variable}, values);
  }
  const Enumeration truth = enumerate(observed);
  ASSERT_TRUE(answer.log_z) << what;
  if (truth.log_z == kNegInf) {
    EXPECT_EQ(*answer.log_z, kNegInf) << what;
    EXPECT_TRUE(answer.marginals.empty()) << what;
    EXPECT_TRUE(answer.samples.empty()) << what;
    return;
  }
  EXPECT_NEAR(*answer.log_z, truth.log_z, 1e-8) << what;
  EXPECT_LE(answer.lower.value_or(kNegInf), truth.log_z + 1e-12) << what;
  EXPECT_GE(answer.upper.value_or(HUGE_VAL), truth.log_z - 1e-12) << what;
  ASSERT_EQ(answer.marginals.size(), truth.marginals.size()) << what;
  for (std::size_t v = 0; v < truth.marginals.size(); ++v) {
    for (std::size_t s = 0; s < truth.marginals[v].size(); ++s) {
      EXPECT_NEAR(answer.marginals[v][s], truth.marginals[v][s], 1e-7) << what;
    }
  }
  ASSERT_TRUE(answer.best) << what;
  EXPECT_NEAR(graph.log_density(answer.best->x), answer.best->log_density, 1e-9) << what;
  for (std::size_t i = 0; i < answer.samples.size(); ++i) {
    const double log_prob = truth.log_probs[configuration_index(graph, answer.samples[i])];
    EXPECT_NE(log_prob, kNegInf) << what;
    EXPECT_NEAR(answer.sample_log_probs.at(i), log_prob, 1e-6) << what;
    // Functions are not called without need.
    EXPECT_EQ(answer.sample_log_densities.empty(), !graph.has_only_tables()) << what;
    if (graph.has_only_tables()) {
      EXPECT_NEAR(answer.sample_log_densities.at(i), log_prob + truth.log_z, 1e-6) << what;
    }
    EXPECT_NEAR(answer.approximation->log_prob(answer.samples[i]), log_prob, 1e-6) << what;
  }
}

TEST(Infer, EveryExactWayAgreesWithEnumeration) {
  const std::pair<const char*, InferOptions> ways[] = {
      {"auto", {}},
      {"exact", {.method = Method::kExact}},
      {"q-uct in tree", {.method = Method::kSearch, .select = SelectRule::kQUct, .space = SpaceKind::kTree}},
      {"q-uct in andor", {.method = Method::kSearch, .select = SelectRule::kQUct, .space = SpaceKind::kAndOr}},
      {"gap", {.method = Method::kSearch, .select = SelectRule::kGap, .leaf = LeafChoice{LeafKind::kUniform}}},
      {"gap, mini-buckets",
       {.method = Method::kSearch, .select = SelectRule::kGap, .leaf = LeafChoice{LeafKind::kMiniBucket, 1}}},
      {"mass", {.method = Method::kSearch, .select = SelectRule::kMass}},
  };
  Random random(14);
  int num_possible = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const FactorGraph graph =
        random_model(random, {.num_variables = 5, .zero_probability = trial % 4 == 0 ? 0.3 : 0.0});
    const Evidence evidence = trial % 2 == 0 ? Evidence() : some_evidence(graph);
    for (const auto& [what, options] : ways) {
      const Answer answer = infer(Model(graph, evidence), {.samples = 3}, {.budget = 100'000}, options);
      expect_exact(answer, graph, evidence, what);
      num_possible += answer.samples.size() == 3 ? 1 : 0;
    }
  }
  EXPECT_GT(num_possible, 200);
}

TEST(Infer, FunctionsAreAnsweredExactlyOnceEverythingWasEvaluated) {
  Random random(15);
  for (int trial = 0; trial < 20; ++trial) {
    const FactorGraph graph = random_model(random, {.num_variables = 5, .function_probability = 0.5});
    const Answer answer = infer(graph, {.samples = 3}, {.budget = 100'000});
    expect_exact(answer, graph, {}, "functions");
  }
}

TEST(Infer, BaselinesAnswerWhatTheyCan) {
  const FactorGraph graph = make_family("chain", {.seed = 2, .values = {{"n", 5.0}, {"k", 3.0}}}).graph;
  const double log_z = enumerate(graph).log_z;
  for (const Method method : {Method::kSis, Method::kSmc, Method::kGibbs, Method::kBp}) {
    const Answer answer = infer(graph, {.samples = 4}, {.budget = 50'000}, {.method = method});
    EXPECT_EQ(answer.samples.size(), 4U) << to_string(method);
    EXPECT_EQ(answer.marginals.size(), 5U) << to_string(method);
    EXPECT_EQ(answer.plan.method, method);
    EXPECT_EQ(answer.log_z.has_value(), method != Method::kGibbs);
    EXPECT_NEAR(answer.log_z.value_or(log_z), log_z, 0.2) << to_string(method);
  }
  EXPECT_THROW(infer(graph, {}, {.budget = 1}, {.method = Method::kGibbs}), OptionError);
}

TEST(Infer, AnInterruptionGivesTheAnswerSoFar) {
  const FactorGraph grid = make_family("ising", {.seed = 1, .values = {{"n", 30.0}, {"columns", 30.0}}}).graph;
  int num_asked = 0;
  const Answer answer = infer(grid, {}, {.seconds = 60}, {}, {.should_stop = [&] { return ++num_asked > 1000; }});
  EXPECT_EQ(answer.stop, StopReason::kInterrupted);
  EXPECT_TRUE(answer.upper);
  EXPECT_LT(answer.seconds, 30.0);
}

TEST(Infer, TheObserverHearsOfPhasesAndRemarks) {
  const FactorGraph grid = make_family("ising", {.seed = 1, .values = {{"n", 30.0}, {"columns", 30.0}}}).graph;
  std::vector<std::string> phases, remarks;
  LogBounds last;
  const Observer observer{.progress =
                              [&](const Progress& now) {
                                if (phases.empty() || phases.back() != now.phase) phases.emplace_back(now.phase);
                                EXPECT_LE(last.lower, now.log_z.lower + 1e-9);
                                last.lower = now.log_z.lower;
                              },
                          .remark = [&](const std::string& text) { remarks.push_back(text); }};
  infer(grid, {}, {.budget = 100}, {.method = Method::kSearch, .select = SelectRule::kGap, .c = 1.0}, observer);
  EXPECT_GE(phases.size(), 2U);
  ASSERT_FALSE(remarks.empty());
  EXPECT_NE(remarks.front().find("--c is ignored"), std::string::npos);
}

TEST(Infer, QuestionsThatAreNotAskedAreNotAnswered) {
  const FactorGraph graph = make_family("chain", {.seed = 2}).graph;
  for (const Method method : {Method::kExact, Method::kSearch, Method::kSmc}) {
    const Answer answer =
        infer(graph, {.marginals = false, .best = false}, {.budget = 1000}, {.method = method, .importance = 0});
    EXPECT_TRUE(answer.marginals.empty()) << to_string(method);
    EXPECT_FALSE(answer.best) << to_string(method);
    EXPECT_TRUE(answer.approximation) << to_string(method);
  }
}

TEST(Infer, TheMemoryLimitIsNamedWhenItIsTooSmall) {
  const FactorGraph graph = make_family("ising", {.seed = 1, .values = {{"n", 16.0}, {"columns", 16.0}}}).graph;
  try {
    infer(graph, {}, {.bytes = 1000}, {.method = Method::kExact});
    FAIL();
  } catch (const OptionError& error) {
    EXPECT_EQ(error.option(), "memory");
    EXPECT_EQ(error.code(), ErrorCode::kResource);
  }
}

// A search that gives nodes back when its memory is full can know log Z exactly and still have lost what samples and
// marginals are made of.
TEST(Infer, MarginalsOfASearchThatWasNotKeptAreNotCalledExact) {
  int num_exact = 0, num_lost = 0;
  for (int trial = 0; trial < 10; ++trial) {
    Random random(trial, "given back");
    const FactorGraph graph = random_model(random, {.num_variables = 5, .min_states = 2});
    const Enumeration truth = enumerate(graph);
    for (const SpaceKind space : {SpaceKind::kGraph, SpaceKind::kAndOr}) {
      for (const SelectRule rule : {SelectRule::kQUct, SelectRule::kMass}) {
        InferOptions options{.space = space};
        options.select = rule;
        options.simplify = false;
        const Answer answer = infer(graph, {}, {.budget = 10'000, .bytes = 2000}, options);
        if (!answer.is_exact) continue;
        ++(answer.marginals_error == 0.0 ? num_exact : num_lost);
        if (answer.marginals_error != 0.0) continue;
        for (int v = 0; v < graph.num_variables(); ++v) {
          for (int s = 0; s < graph.num_states(v); ++s) {
            EXPECT_NEAR(answer.marginals[v][s], truth.marginals[v][s], 1e-9);
          }
        }
      }
    }
  }
  EXPECT_GT(num_exact, 0);
  EXPECT_GT(num_lost, 0);
}

// Samplers know nothing of joint queries: their probabilities add up to 1.
TEST(Infer, JointQueriesDoNotChangeTheSampler) {
  for (int trial = 0; trial < 8; ++trial) {
    Random random(trial, "joint");
    const FactorGraph graph = random_model(random, {.num_variables = 4, .min_states = 2});
    const Enumeration truth = enumerate(graph);
    InferOptions options{.select = SelectRule::kGap,
                         .leaf = LeafChoice{LeafKind::kUniform},
                         .sampler = SampleSource::kUpper,
                         .simplify = trial % 2 == 0};
    Model model(graph);
    if (trial % 3 == 0) model.evidence = {{0, 0}};
    const Answer answer = infer(model, {.query = {{"x3", "x1"}, {"x0", "x1"}}, .samples = 10}, {.budget = 4}, options);
    double sum = 0.0;
    for (std::size_t i = 0; i < truth.log_probs.size(); ++i) {
      sum += std::exp(answer.approximation->log_prob(configuration_at(graph, i)));
    }
    EXPECT_NEAR(sum, 1.0, 1e-9);
    ASSERT_EQ(answer.queries.size(), 2U);
    EXPECT_EQ(answer.queries[0].probabilities.size(), std::size_t(graph.num_states(3)) * graph.num_states(1));
    for (const Assignment& x : answer.samples) EXPECT_EQ(std::ssize(x), graph.num_variables());
  }
}

// A search without the time to solve its model: bounds improved by cutsets are certified too. Whether there is time for
// cutsets depends on the machine; the validity of the bounds does not.
// A search that gives up nodes for memory may still end with log Z; their distribution is lost.
TEST(Infer, MarginalsOfASearchThatGaveUpNodesAreNotCalledExact) {
  for (const SelectRule rule : {SelectRule::kQUct, SelectRule::kMass}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      Random random(seed, "memory");
      const FactorGraph graph = random_model(random, {.num_variables = 8, .min_states = 2, .num_factors = 9});
      const InferOptions options{.method = Method::kSearch, .select = rule, .importance = 0, .simplify = false};
      const Answer answer = infer(graph, {}, {.bytes = 1 << 11}, options);
      if (!answer.marginals_from.starts_with("exact")) continue;
      const Marginals truth = enumerate(graph).marginals;
      for (std::size_t v = 0; v < truth.size(); ++v) {
        EXPECT_NEAR(answer.marginals[v][0], truth[v][0], LogBounds::kExact) << to_string(rule) << " " << seed;
      }
    }
  }
}

TEST(Infer, BoundsOfAnUnsolvedSearchHold) {
  int num_open = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Random random(seed, "unsolved");
    const double zeros = seed == 3 ? 0.05 : 0.0;
    const FactorGraph graph = random_model(
        random, {.num_variables = 60, .min_states = 2, .num_factors = 85, .min_arity = 2, .zero_probability = zeros});
    const Model model(graph);
    InferOptions options{
        .method = Method::kSearch, .select = SelectRule::kGap, .leaf = LeafChoice{LeafKind::kMiniBucket, 4}};
    const Answer truth = infer(model, {}, {.threads = 2});
    ASSERT_TRUE(truth.is_exact);
    const Answer answer = infer(model, {}, {.seconds = 0.7, .threads = 2}, options);
    EXPECT_LE(answer.lower.value_or(kNegInf), *truth.upper);
    EXPECT_GE(answer.upper.value_or(HUGE_VAL), *truth.lower);
    num_open += answer.is_exact ? 0 : 1;
  }
  EXPECT_GT(num_open, 0);
}

}  // namespace
}  // namespace treesample
