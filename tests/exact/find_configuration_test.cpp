#include "treesample/exact/find_configuration.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

FactorGraph model_with_zeros(Random& random, int variant) {
  testing::RandomModelOptions options{
      .num_variables = 7, .num_factors = 9, .min_arity = variant % 2, .zero_probability = 0.1 * (variant % 8)};
  return testing::random_model(random, options);
}

// No two pigeons in one hole. With more pigeons than holes nothing is possible, which propagation alone does not find.
FactorGraph pigeons(int num_pigeons, int num_holes) {
  FactorGraph graph;
  std::vector<double> differ;
  for (int first = 0; first < num_holes; ++first) {
    for (int second = 0; second < num_holes; ++second) differ.push_back(first == second ? kNegInf : 0.0);
  }
  for (int v = 0; v < num_pigeons; ++v) {
    graph.add_variable(num_holes);
    for (int u = 0; u < v; ++u) graph.add_table({u, v}, differ);
  }
  return graph;
}

// A configuration is found exactly where one exists, agrees with what is given, and no single change improves it.
TEST(FindConfiguration, AgreesWithEnumeration) {
  Random random(1);
  int num_impossible = 0;
  for (int variant = 0; variant < 400; ++variant) {
    const FactorGraph graph = model_with_zeros(random, variant);
    FindOptions options{.temperature = variant % 3, .seed = static_cast<std::uint64_t>(variant)};
    if (variant % 4 == 0) options.order = random.permutation(graph.num_variables());
    FactorGraph observed = graph;
    for (int v = 0; v < 2; ++v) {
      if (variant % 5 != v) continue;
      const auto num_states = static_cast<std::uint64_t>(graph.num_states(v));
      options.given.push_back({v, static_cast<int>(random.below(num_states))});
      std::vector<double> values(num_states, kNegInf);
      values[static_cast<std::size_t>(options.given.back().state)] = 0.0;
      observed.add_table({v}, values);
    }
    const FindResult result = find_configuration(graph, options);
    if (enumerate(observed).log_z == kNegInf) {
      ASSERT_EQ(result.outcome, FindOutcome::kImpossible) << variant;
      ++num_impossible;
      continue;
    }
    ASSERT_EQ(result.outcome, FindOutcome::kFound) << variant;
    const auto& [x, log_density] = result.configuration;
    ASSERT_GT(observed.log_density(x), kNegInf);
    ASSERT_EQ(log_density, graph.log_density(x));
    for (int v = 0; v < graph.num_variables(); ++v) {
      Assignment y = x;
      for (y[v] = 0; y[v] < graph.num_states(v); ++y[v]) ASSERT_LE(observed.log_density(y), log_density + 1e-9);
    }
  }
  EXPECT_GT(num_impossible, 50);
  EXPECT_LT(num_impossible, 350);
}

TEST(FindConfiguration, ProvesThatThereIsNoneBySearch) {
  const FactorGraph graph = pigeons(7, 6);
  const FindResult result = find_configuration(graph);
  EXPECT_EQ(result.outcome, FindOutcome::kImpossible);
  EXPECT_GT(result.num_contradictions, 100);
  EXPECT_EQ(find_configuration(pigeons(7, 7)).outcome, FindOutcome::kFound);
}

TEST(FindConfiguration, EndsAtItsLimits) {
  const FactorGraph graph = pigeons(14, 13);
  FindOptions options{.max_decisions = 1000};
  const FindResult result = find_configuration(graph, options);
  EXPECT_EQ(result.outcome, FindOutcome::kStopped);
  EXPECT_EQ(result.num_decisions, 1000);
  options.max_decisions = 1'000'000'000;
  int num_calls = 0;
  options.should_stop = [&] { return ++num_calls == 5; };
  EXPECT_EQ(find_configuration(graph, options).outcome, FindOutcome::kStopped);
  EXPECT_EQ(num_calls, 5);
}

TEST(FindConfiguration, FollowsOrderAndPreference) {
  FactorGraph graph = testing::variables(3, 3);
  graph.add_table({0, 1}, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, kNegInf});
  std::vector<int> asked;
  FindOptions options{.is_improved = false};
  options.order = {2, 1, 0};
  options.preference = [&](const Propagator& domains, int variable, std::span<const int> states,
                           std::span<double> scores) {
    asked.push_back(variable);
    EXPECT_TRUE(variable == 2 || domains.state(2) == 2);
    for (std::size_t i = 0; i < states.size(); ++i) scores[i] = states[i];
  };
  const FindResult result = find_configuration(graph, options);
  EXPECT_EQ(result.configuration.x, (Assignment{1, 2, 2}));  // (2, 2) is impossible for x0, x1
  EXPECT_EQ(asked, (std::vector<int>{2, 1, 0}));
}

TEST(FindConfiguration, SeedsGiveOtherConfigurationsAndTheSameOnesAgain) {
  const FactorGraph graph = pigeons(5, 6);
  ConfigurationFinder finder(graph);
  std::set<Assignment> found;
  FindOptions options{.temperature = 1.0};
  for (int seed = 0; seed < 50; ++seed) {
    options.seed = static_cast<std::uint64_t>(seed);
    found.insert(finder.find(options).configuration.x);
  }
  EXPECT_GT(found.size(), 30U);
  EXPECT_EQ(find_configuration(graph, options).configuration.x, find_configuration(graph, options).configuration.x);
}

// With positive factors and without improvement, states are drawn in proportion to exp(score / temperature).
TEST(FindConfiguration, TemperatureIsThatOfASoftmax) {
  FactorGraph graph = testing::variables({2});
  graph.add_table({0}, {0.0, 1.0});
  ConfigurationFinder finder(graph);
  FindOptions options{.temperature = 2.0, .is_improved = false};
  int num_ones = 0;
  constexpr int kDraws = 4000;
  for (int seed = 0; seed < kDraws; ++seed) {
    options.seed = static_cast<std::uint64_t>(seed);
    num_ones += finder.find(options).configuration.x[0];
  }
  EXPECT_NEAR(num_ones / static_cast<double>(kDraws), 0.6225, 0.04);  // 1 / (1 + exp(-1/2)), 5 standard errors
}

TEST(FindConfiguration, SurvivesAPreferenceThatThrows) {
  const FactorGraph graph = pigeons(4, 5);
  ConfigurationFinder finder(graph);
  int num_calls = 0;
  FindOptions options;
  options.preference = [&](const Propagator&, int, std::span<const int>, std::span<double>) {
    if (++num_calls == 2) throw std::runtime_error("no preference");
  };
  EXPECT_THROW(finder.find(options), std::runtime_error);
  const FindResult result = finder.find({.given = {{0, 4}, {1, 3}, {2, 0}, {3, 1}}});
  EXPECT_EQ(result.outcome, FindOutcome::kFound);
}

TEST(FindConfiguration, RefusesBadInput) {
  FactorGraph graph = testing::variables({2});
  EXPECT_THROW(find_configuration(graph, {.given = {{0, 2}}}), Error);
  EXPECT_THROW(find_configuration(graph, {.order = {1}}), Error);
  EXPECT_THROW(find_configuration(graph, {.temperature = -1.0}), Error);
  EXPECT_EQ(find_configuration(FactorGraph()).outcome, FindOutcome::kFound);
  graph.add_factor(Factor::function({0}, [](std::span<const int>) { return 0.0; }));
  EXPECT_THROW(find_configuration(graph), Error);
}

}  // namespace
}  // namespace treesample
