// What an answer calls exact or optimal where nodes were given back, or where numbers are large.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

#include "support/random_models.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {
namespace {

// A solved search whose nodes did not fit into the memory: log Z is exact, the sampler is not the target.
TEST(Certificates, MarginalsAreExactOnlyWhereTheSamplerIs) {
  constexpr int kVariables = 10;
  FactorGraph graph;
  Random random(1, "certificates");
  for (int v = 0; v < kVariables; ++v) graph.add_variable(2);
  for (const int distance : {1, 3}) {
    for (int v = 0; v + distance < kVariables; ++v) {
      graph.add_table({v, v + distance}, {2.0 * random.normal(), 0.0, 0.0, 2.0 * random.normal()});
    }
  }
  const Marginals truth = Elimination(graph).marginals();
  int num_exact = 0, num_others = 0;
  for (const std::size_t bytes : {5000, 6000, 7000, 8000, 100000}) {
    const Answer answer = infer(graph, {}, {.budget = 5000, .bytes = bytes},
                                {.method = Method::kSearch,
                                 .select = SelectRule::kQUct,
                                 .space = SpaceKind::kGraph,
                                 .order = OrderKind::kGiven});
    if (!answer.is_exact) continue;
    if (!answer.marginals_from.starts_with("exact")) {
      ++num_others;
      continue;
    }
    ++num_exact;
    for (int v = 0; v < kVariables; ++v) EXPECT_NEAR(answer.marginals[v][0], truth[v][0], 1e-6) << bytes;
  }
  EXPECT_GT(num_exact, 0);
  EXPECT_GT(num_others, 0);
}

// Whichever rule the options imply.
TEST(Certificates, ProbabilitiesAddUpBesideAJointQuery) {
  FactorGraph graph;
  for (int v = 0; v < 3; ++v) graph.add_variable(2);
  graph.add_table({0, 1, 2}, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8});
  const std::vector<InferOptions> requests = {{.space = SpaceKind::kGraph},
                                              {.order = OrderKind::kGiven},
                                              {.method = Method::kSearch},
                                              {.leaf = LeafChoice{LeafKind::kCalibrated}},
                                              {.space = SpaceKind::kGraph, .sampler = SampleSource::kLower},
                                              {.c = 2.0}};
  for (const InferOptions& options : requests) {
    const Answer answer = infer(graph, {.query = {{"x0", "x2"}}}, {.budget = 3}, options);
    ASSERT_TRUE(answer.approximation);
    double total = 0.0;
    for (int number = 0; number < 8; ++number) {
      total += std::exp(answer.approximation->log_prob(std::vector{number / 4, number / 2 % 2, number % 2}));
    }
    EXPECT_NEAR(total, 1.0, 1e-12) << answer.method;
    EXPECT_EQ(answer.queries[0].probabilities.size(), 4U) << answer.method;
  }
}

// Numbers near 3e10 are known to some 4e-6: any of the three configurations that seem equal may be the worst.
TEST(Certificates, TheBestConfigurationsAreAsUncertainAsTheConstantsThatWereDropped) {
  FactorGraph graph;
  for (int v = 0; v < 2; ++v) graph.add_variable(3);
  graph.add_table({0}, {3e10, 3e10, 3e10});
  graph.add_table({0}, {-3e10, -3e10, -3e10});
  graph.add_table({1}, {0.1, -5.0, -6.0});
  EXPECT_FALSE(infer(graph, {.k_best = 2}).is_k_best_optimal);
}

// Each function prefers its second state by `more`, beside values of `large`.
TEST(Certificates, AnOptimumIsNoWorseThanItSays) {
  for (const auto& [large, more, num_variables] :
       {std::tuple(100.0, 9e-9, 1), {10.0, 1e-9, 8}, {1e6, 9e-5, 4}, {1e6, 1e-9, 4}, {-3.0, 0.0, 5}}) {
    FactorGraph graph;
    for (int v = 0; v < num_variables; ++v) {
      graph.add_variable(2);
      graph.add_factor(Factor::function(
          {v}, [large = large, more = more](std::span<const int> x) { return large + (x[0] == 1 ? more : 0.0); }));
    }
    const Answer answer = infer(graph);
    ASSERT_TRUE(answer.best && answer.best_gap);
    double gap = 0.0;
    for (const int state : answer.best->x) gap += state == 0 ? more : 0.0;
    EXPECT_LE(gap, *answer.best_gap) << large << " " << more;
    EXPECT_EQ(answer.is_best_optimal, *answer.best_gap <= 1e-9);
    if (large < 1e6) {
      EXPECT_EQ(answer.is_best_optimal, true) << *answer.best_gap;
    }
  }
}

TEST(Certificates, SamplesOfFactorsThatCancelAreNotExact) {
  for (const double large : {0.0, 0x1.0p53}) {
    FactorGraph graph = testing::variables({2, 2});
    graph.add_table({0, 1}, {large, large + 4.0, large + 8.0, large});
    graph.add_table({1, 0}, {1.0, 0.0, 0.0, 1.0});
    graph.add_table({0, 1}, {-large, -large - 4.0, -large - 8.0, -large});
    const Answer answer = infer(graph, {.samples = 5}, {},
                                {.method = Method::kSearch,
                                 .select = SelectRule::kGap,
                                 .leaf = LeafChoice{LeafKind::kMaxima},
                                 .sampler = SampleSource::kRejection,
                                 .max_tries = 1000});
    EXPECT_EQ(answer.has_exact_samples, large == 0.0);
  }
}

// Entries that are equal as doubles count as one constant, but each of them is known to one unit in the last place:
// constants that cancel leave that behind.
TEST(Certificates, EqualEntriesAreEqualWithinTheirRounding) {
  for (const double large : {1e3, 1e13}) {
    FactorGraph graph;
    graph.add_variable(3);
    for (const double flat : {large, -large}) graph.add_table({0}, {flat, flat, flat});
    graph.add_table({0}, {0.0, -1e-5, -2e-5});
    const Answer answer = infer(Model(graph), {.k_best = 2});
    EXPECT_EQ(answer.is_k_best_optimal, large < 1e4);
    EXPECT_EQ(answer.is_best_optimal, large < 1e4);
  }
}

TEST(Certificates, ProbabilitiesAddUpBesideAJointQueryOfImpossibleStates) {
  FactorGraph graph;
  for (int v = 0; v < 3; ++v) graph.add_variable(2);
  graph.add_table({0, 1}, {-HUGE_VAL, 0.2, 0.3, 0.4});
  graph.add_table({0, 1, 2}, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8});
  const Answer answer =
      infer(graph, {.query = {{"x0", "x1"}}}, {.budget = 2},
            {.select = SelectRule::kGap, .order = OrderKind::kGiven, .leaf = LeafChoice{LeafKind::kUniform}});
  EXPECT_FALSE(answer.is_exact);
  ASSERT_TRUE(answer.approximation);
  double total = 0.0;
  for (int number = 0; number < 8; ++number) {
    total += std::exp(answer.approximation->log_prob(std::vector<int>{number / 4, number / 2 % 2, number % 2}));
  }
  EXPECT_NEAR(total, 1.0, 1e-12);
}

// Marginals of barren variables come from an elimination after the search. It can take a fifth of the time, and nobody
// could end it, or see that it was under way.
TEST(Certificates, EliminationAfterASolvedSearchIsWatched) {
  FactorGraph graph;
  for (int v = 0; v < 5; ++v) graph.add_variable(2);
  for (int v = 0; v < 3; ++v) graph.add_table({v, v + 1}, {0.3, -0.7, 0.1, 1.2});
  graph.add_table({3, 4}, {std::log(0.25), std::log(0.75), std::log(0.5), std::log(0.5)});  // x4 is barren
  bool is_seen = false;
  const Observer observer{
      .progress = [&](const Progress& now) { is_seen = is_seen || std::string_view(now.phase) == "marginals"; }};
  const Answer answer =
      infer(graph, {}, {}, {.select = SelectRule::kGap, .leaf = LeafChoice{LeafKind::kUniform}}, observer);
  EXPECT_EQ(answer.marginals_from, "exact");
  EXPECT_TRUE(is_seen);
}

// Methods that do not estimate log Z say what simplification has proved, and answer every question about it.
TEST(Certificates, AnImpossibleModelIsSaidToBeOneByEveryMethod) {
  FactorGraph graph;
  graph.add_variable(2);
  graph.add_table({0}, {-HUGE_VAL, -HUGE_VAL});
  for (const Method method : {Method::kGibbs, Method::kBp, Method::kSis, Method::kSmc, Method::kAis,
                              Method::kMetropolis, Method::kExact, Method::kCount, Method::kSearch, Method::kTree}) {
    const Answer answer = infer(graph, {.sensitivity = "x0=0"}, {}, {.method = method});
    EXPECT_TRUE(answer.is_exact) << to_string(method);
    EXPECT_EQ(answer.log_z, -HUGE_VAL) << to_string(method);
    EXPECT_FALSE(answer.sensitivity) << to_string(method);
  }
}

// Functions may all be decided by evidence, or never have been there.
TEST(Certificates, TablesCanBeLearnedFrom) {
  FactorGraph graph;
  for (int v = 0; v < 3; ++v) graph.add_variable(2);
  graph.add_table({0, 1}, {0.1, 0.2, 0.3, 0.4});
  graph.add_table({1, 2}, {0.4, -HUGE_VAL, 0.3, 0.1});
  for (const Aim aim : {Aim::kAll, Aim::kBest, Aim::kLogZ}) {
    const Answer answer = infer(graph, {.aim = aim}, {}, {.method = Method::kLearned});
    EXPECT_TRUE(answer.is_exact);
    EXPECT_NEAR(*answer.log_z, Elimination(graph).log_z(), 1e-12);
  }
}

TEST(Certificates, WithoutSamplesMarginalsComeFromASolvedSearchOrAnswersSayThatThereAreNone) {
  Random random(5, "certificates");
  const FactorGraph graph = testing::random_model(random, {.num_variables = 8, .num_factors = 12});
  const InferOptions options{.select = SelectRule::kGap, .leaf = LeafChoice{LeafKind::kUniform}, .importance = 0};
  const Answer solved = infer(graph, {}, {}, options);
  EXPECT_EQ(solved.marginals_from, "exact");
  EXPECT_EQ(solved.marginals.size(), 8U);
  const Answer partial = infer(graph, {}, {.budget = 3}, options);
  ASSERT_FALSE(partial.is_exact);
  EXPECT_TRUE(partial.marginals.empty());
  EXPECT_EQ(partial.marginals_from, "none: --importance 0 draws no samples that would give them");
}

// Leaf values of -inf leave nothing to draw: a distribution whose probabilities add up to 0 is none.
TEST(Certificates, ASearchThatGivesEverythingAProbabilityOfZeroHasNoSampler) {
  FactorGraph graph;
  for (int v = 0; v < 4; ++v) graph.add_variable(2);
  std::vector<double> parity;
  for (int x = 0; x < 16; ++x) parity.push_back(__builtin_popcount(x) % 2 == 1 ? 0.0 : -HUGE_VAL);
  graph.add_table({0, 1, 2, 3}, parity);
  const Answer answer =
      infer(graph, {.samples = 3}, {.budget = 5}, {.select = SelectRule::kQUct, .leaf = LeafChoice{LeafKind::kElbo}});
  EXPECT_FALSE(answer.approximation);
  EXPECT_TRUE(answer.samples.empty());
}

// Permutations: most configurations are impossible, and the memory does not hold those that are not.
TEST(Certificates, AnExactSearchThatWasCutOffGivesNoImpossibleSamples) {
  FactorGraph graph;
  for (int v = 0; v < 4; ++v) graph.add_variable(4);
  std::vector<double> different(16, 0.0);
  for (int k = 0; k < 4; ++k) different[static_cast<std::size_t>(5 * k)] = -HUGE_VAL;
  for (int v = 0; v < 3; ++v) {
    const auto look_up = [different](std::span<const int> x) {
      return different[static_cast<std::size_t>(4 * x[0] + x[1])];
    };
    graph.add_factor(v == 1 ? Factor::function({v, 3}, look_up) : Factor::table({v, 3}, different));
  }
  int num_cut_off = 0;
  for (const std::size_t bytes : {4096, 64 << 20}) {
    std::string remarks;
    const Observer observer{.remark = [&](const std::string& text) { remarks += text + "\n"; }};
    const Answer answer = infer(graph, {.samples = 20}, {.bytes = bytes}, {}, observer);
    ASSERT_TRUE(answer.is_exact);
    for (const Assignment& x : answer.samples) EXPECT_NE(graph.log_density(x), -HUGE_VAL) << bytes;
    const bool is_cut_off = answer.unexplored_mass.has_value();
    EXPECT_EQ(answer.samples.size(), is_cut_off ? 0U : 20U) << bytes;
    EXPECT_EQ(remarks.find("no samples: the memory") != std::string::npos, is_cut_off) << remarks;
    num_cut_off += is_cut_off ? 1 : 0;
  }
  EXPECT_EQ(num_cut_off, 1);
}

// Each call of a noisy function is another reading.
FactorGraph noisy_model() {
  FactorGraph graph;
  for (int v = 0; v < 3; ++v) graph.add_variable(2);
  const auto num_calls = std::make_shared<int>(0);
  const auto noisy = [num_calls](std::span<const int> x) {
    return x[0] - 0.5 * x[1] + 0.1 * Random((*num_calls)++, "noise").normal();
  };
  graph.add_factor(Factor::function({0, 1}, noisy));
  graph.add_factor(Factor::function({1, 2}, noisy));
  return graph;
}

TEST(Certificates, DeclaredNoiseIsLearnedAndSearchesThatBelieveEachValueAreRefused) {
  const Answer answer = infer(noisy_model(), {}, {.calls = 60}, {.noise = "yes"});
  EXPECT_EQ(answer.plan.method, Method::kLearned);
  EXPECT_FALSE(answer.is_exact);
  for (const Method method : {Method::kTree, Method::kSearch, Method::kFrequencies}) {
    EXPECT_THROW(infer(noisy_model(), {}, {.calls = 60}, {.method = method, .noise = "yes"}), OptionError);
  }
}

// Evidence makes a number of the function: one reading.
TEST(Certificates, NothingIsCertifiedFromAReadingThatEvidenceDecides) {
  for (const Evidence& evidence : {Evidence{{0, 1}, {1, 0}}, Evidence{{0, 1}, {1, 0}, {2, 1}}}) {
    const Answer answer = infer(Model(noisy_model(), evidence), {}, {}, {.noise = "yes"});
    EXPECT_FALSE(answer.is_exact);
    EXPECT_EQ(answer.lower.value_or(-HUGE_VAL), -HUGE_VAL);
    EXPECT_EQ(answer.upper.value_or(HUGE_VAL), HUGE_VAL);
  }
}

// The value that evidence decides is known to the queue, and is no value of a function any more.
TEST(Certificates, FunctionsThatEvidenceDecidesCanStandBesideLearnedOnesInAQueue) {
  for (const int first : {0, 2}) {
    const Answer answer = infer(Model(noisy_model(), {{first, 1}, {1, 0}}), {}, {.new_calls = 10},
                                {.method = Method::kLearned, .noise = "yes"});
    EXPECT_TRUE(answer.approximation);
  }
}

// Pigeons in too few holes: what is drawn never has a density, and that it cannot have one is proved.
TEST(Certificates, MethodsThatDrawKnowWhatIsImpossible) {
  constexpr int kHoles = 3;
  FactorGraph graph = testing::variables((kHoles + 1) * kHoles, 2);
  const std::vector<double> not_both = {0.0, 0.0, 0.0, kNegInf}, one = {kNegInf, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  for (int pigeon = 0; pigeon <= kHoles; ++pigeon) {
    graph.add_table({3 * pigeon, 3 * pigeon + 1, 3 * pigeon + 2}, one);
    for (int other = 0; other < pigeon; ++other) {
      for (int hole = 0; hole < kHoles; ++hole) graph.add_table({3 * pigeon + hole, 3 * other + hole}, not_both);
    }
  }
  for (const Method method : {Method::kGibbs, Method::kBp, Method::kSis, Method::kSmc, Method::kAis}) {
    const Answer answer = infer(graph, {}, {.budget = 10000}, {.method = method});
    EXPECT_EQ(answer.log_z, kNegInf) << answer.method;
    EXPECT_TRUE(answer.is_exact && answer.marginals.empty() && !answer.best) << answer.method;
  }
}

}  // namespace
}  // namespace treesample
