#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "experiments/beliefs/belief_search.hpp"
#include "experiments/table1/reading_fit.hpp"
#include "experiments/table1/reading_list.hpp"
#include "support/random_models.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/random.hpp"

namespace treesample::experiments {
namespace {

constexpr PaperCell kCell{2.0, 0.5};

TEST(ReadingFit, MomentsOfANormalSample) {
  Random random(1);
  std::vector<double> values;
  for (int i = 0; i < 4000; ++i) values.push_back(3.0 + 2.0 * random.normal());
  const Moments moments = moments_of(values);
  EXPECT_NEAR(moments.mean, 3.0, 0.2);
  EXPECT_NEAR(moments.deviation, 2.0, 0.15);
  EXPECT_NEAR(moments.kurtosis, 3.0, 0.5);
}

// By sampling alone, the paper's numbers differ from ours by some standard errors, in the mean and in the logarithm of
// the standard deviation: their standardised differences have variance 1.
TEST(ReadingFit, MisfitsOfTheTruthAreStandardNormal) {
  Random random(2);
  double squares[2] = {};
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> paper, ours;
    for (int i = 0; i < kPaperProblems; ++i) paper.push_back(random.normal());
    for (int i = 0; i < 200; ++i) ours.push_back(random.normal());
    const Moments of_paper = moments_of(paper);
    const Misfit z = misfit({of_paper.mean, of_paper.deviation}, moments_of(ours));
    squares[0] += z.mean * z.mean / kTrials;
    squares[1] += z.deviation * z.deviation / kTrials;
  }
  for (const double square : squares) EXPECT_NEAR(square, 1.0, 0.3);
}

TEST(ReadingFit, LikelihoodFallsWithBothMisfitsDownToThatOfAnUnexplainedCell) {
  const Moments same{2.0, 0.5, 3.0, 1000};
  const double best = log_likelihood(kCell, same);
  double mean_last = best, deviation_last = best;
  for (const double step : {0.02, 0.05, 0.1, 1.0}) {
    const double by_mean = log_likelihood(kCell, {2.0 + step, 0.5, 3.0, 1000});
    const double by_deviation = log_likelihood(kCell, {2.0, 0.5 * (1.0 + step), 3.0, 1000});
    EXPECT_LE(by_mean, mean_last);
    EXPECT_LE(by_deviation, deviation_last);
    mean_last = by_mean;
    deviation_last = by_deviation;
  }
  EXPECT_NEAR(mean_last, std::log(kUnexplained / kMeanRange / std::log(kDeviationRange)), 1e-6);
  EXPECT_GT(best, mean_last + 8.0);
}

TEST(Readings, HaveNamesOfTheirOwnAndTheLetterIsFirst) {
  for (const char* const family : {"chain", "permuted-chain", "factor-graphs-1", "factor-graphs-2"}) {
    const std::vector<FamilyReading> readings = family_readings(family);
    EXPECT_EQ(readings.front().word, "letter");
    EXPECT_TRUE(readings.front().values.empty());
    EXPECT_EQ(readings.back().word, kDescendants);
    std::set<std::string> words, runs;
    for (const FamilyReading& reading : readings) words.insert(reading.word);
    EXPECT_EQ(words.size(), readings.size());
    std::size_t num_runs = 0;
    for (const auto& methods : method_readings(family)) {
      for (const MethodReading& method : methods) {
        for (const TunedRun& run : method.settings) runs.insert(run.word());
        num_runs += method.settings.size();
      }
    }
    EXPECT_EQ(runs.size(), num_runs);
  }
}

// With enough evaluations the tree is complete, and P_X is the target; before that KL is above 0.
TEST(BeliefSearch, IsExactWhenEverythingIsEvaluated) {
  Random random(3);
  for (int trial = 0; trial < 20; ++trial) {
    const FactorGraph graph =
        testing::random_model(random, {.num_variables = 5, .min_states = 3, .max_states = 3, .num_factors = 7});
    const double log_z = enumerate(graph).log_z;
    const SearchSpace space = make_search_space(graph, testing::integers(5), SpaceKind::kTree);
    for (const Gain gain : {Gain::kLogZ, Gain::kDivergence}) {
      const BeliefSearchResult whole = belief_search(graph, space, gain, 10'000, log_z, 7);
      EXPECT_NEAR(whole.kl, 0.0, 1e-10);
      EXPECT_NEAR(whole.log_z, log_z, 1e-10);
      EXPECT_NEAR(whole.log_z_deviation, 0.0, 1e-7);
      const BeliefSearchResult part = belief_search(graph, space, gain, 40, log_z, 7);
      EXPECT_LE(part.num_evaluations, 40);
      EXPECT_GE(part.kl, -1e-12);
    }
  }
}

}  // namespace
}  // namespace treesample::experiments
