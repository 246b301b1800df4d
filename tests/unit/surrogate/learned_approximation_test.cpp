#include "treesample/surrogate/learned_approximation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "support/chi_square.hpp"
#include "support/configurations.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// A learned model, and configurations with other values than it says.
struct Case {
  FactorGraph graph;
  std::vector<Configuration> asked;
};

Case random_case(std::uint64_t seed, int num_asked) {
  Random random(seed, "case");
  Case result{testing::random_model(random, {.num_variables = 5, .zero_probability = 0.1}), {}};
  std::set<Assignment> drawn;
  for (int i = 0; i < num_asked; ++i) {
    Assignment x;
    for (int v = 0; v < result.graph.num_variables(); ++v) {
      x.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(result.graph.num_states(v)))));
    }
    if (drawn.insert(x).second) result.asked.push_back({x, i % 4 == 3 ? kNegInf : random.normal()});
  }
  return result;
}

TEST(LearnedApproximation, ProbabilitiesAddUpToOneAndAreTrueWhereAsked) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Case c = random_case(seed, 12);
    const LearnedApproximation approximation(Elimination(c.graph), c.graph, c.asked);
    if (approximation.log_value() == kNegInf) continue;
    double total = 0.0, mass = 0.0;
    testing::for_each_configuration(c.graph, [&](const Assignment& x) {
      total += std::exp(approximation.log_prob(x));
      double value = c.graph.log_density(x);
      for (const Configuration& known : c.asked) {
        if (known.x == x) value = known.log_density;
      }
      mass += std::exp(value);
      EXPECT_NEAR(std::exp(approximation.log_prob(x) + approximation.log_value()), std::exp(value), 1e-12 * (1 + mass));
    });
    EXPECT_NEAR(total, 1.0, 1e-12);
    EXPECT_NEAR(approximation.log_value(), std::log(mass), 1e-12);
  }
}

TEST(LearnedApproximation, ProbabilitiesOfLargeNumbersAddUp) {
  FactorGraph graph;
  graph.add_variable(2);
  graph.add_variable(2);
  for (const double size : {-1e300, -1e16, 1e7}) {
    FactorGraph learned = graph;
    learned.add_table({0, 1}, {size, size, size, size});
    const std::vector<Configuration> asked = {{{0, 0}, size}, {{1, 1}, size}};
    const LearnedApproximation approximation(Elimination(learned), learned, asked);
    double total = 0.0;
    testing::for_each_configuration(graph, [&](const Assignment& x) { total += std::exp(approximation.log_prob(x)); });
    EXPECT_NEAR(total, 1.0, 1e-9) << size;
  }
}

TEST(LearnedApproximation, SamplesFollowItsProbabilities) {
  const Case c = random_case(3, 10);
  const LearnedApproximation approximation(Elimination(c.graph), c.graph, c.asked);
  std::vector<Assignment> all;
  testing::for_each_configuration(c.graph, [&](const Assignment& x) { all.push_back(x); });
  for (const bool is_elsewhere : {false, true}) {
    Random random(5, "samples");
    std::vector<int> counts(all.size(), 0);
    for (int i = 0; i < 20'000; ++i) {
      const Assignment x = is_elsewhere ? approximation.sample_elsewhere(random) : approximation.sample(random);
      ++counts[std::find(all.begin(), all.end(), x) - all.begin()];
    }
    std::vector<double> log_probs;
    for (const Assignment& x : all) {
      const double log_prob = approximation.log_prob(x);
      if (!is_elsewhere) log_probs.push_back(log_prob);
      if (is_elsewhere) {
        log_probs.push_back(
            approximation.is_asked(x) ? kNegInf : log_prob + approximation.log_value() - approximation.log_elsewhere());
      }
    }
    testing::expect_counts_follow(counts, log_probs);
  }
}

// What is left is far smaller than the rounding of what was asked.
TEST(LearnedApproximation, NothingCancelsWhereNearlyAllWasAsked) {
  FactorGraph graph = testing::variables({2, 2});
  graph.add_table({0, 1}, {0.0, 0.0, 0.0, -60.0});
  const LearnedApproximation approximation(Elimination(graph), graph,
                                           {{{0, 0}, -1.0}, {{0, 1}, 2.0}, {{1, 0}, kNegInf}});
  EXPECT_NEAR(approximation.log_elsewhere(), -60.0, 1e-12);
  EXPECT_NEAR(approximation.log_prob(Assignment{1, 1}), -60.0 - approximation.log_value(), 1e-12);
  Random random(1, "samples");
  EXPECT_EQ(approximation.sample_elsewhere(random), (Assignment{1, 1}));
}

TEST(LearnedApproximation, EverythingAskedLeavesNothingElsewhere) {
  FactorGraph graph = testing::variables({2});
  const LearnedApproximation approximation(Elimination(graph), graph, {{{0}, 1.0}, {{1}, kNegInf}});
  EXPECT_EQ(approximation.log_elsewhere(), kNegInf);
  EXPECT_DOUBLE_EQ(approximation.log_value(), 1.0);
  Random random(1, "samples");
  EXPECT_EQ(approximation.sample(random), Assignment{0});
  EXPECT_THROW(static_cast<void>(approximation.sample_elsewhere(random)), Error);
}

TEST(LearnedApproximation, ImpossibleModelsAreLegal) {
  FactorGraph graph = testing::variables({2});
  graph.add_table({0}, {kNegInf, kNegInf});
  const LearnedApproximation approximation(Elimination(graph), graph, {{{0}, kNegInf}});
  EXPECT_EQ(approximation.log_value(), kNegInf);
  EXPECT_EQ(approximation.log_prob(Assignment{1}), kNegInf);
  Random random(1, "samples");
  EXPECT_THROW(static_cast<void>(approximation.sample(random)), Error);
}

TEST(LearnedApproximation, AModelWithoutVariablesHasOneConfiguration) {
  FactorGraph graph;
  graph.add_table({}, {3.0});
  const LearnedApproximation learned(Elimination(graph), graph, {});
  EXPECT_DOUBLE_EQ(learned.log_value(), 3.0);
  const LearnedApproximation asked(Elimination(graph), graph, {{{}, 2.0}});
  EXPECT_DOUBLE_EQ(asked.log_value(), 2.0);
  EXPECT_DOUBLE_EQ(asked.log_prob(Assignment{}), 0.0);
}

}  // namespace
}  // namespace treesample
