#include "treesample/baselines/particle_approximation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

FactorGraph two_variables() {
  FactorGraph graph = testing::variables({2, 3});
  return graph;
}

// (0,2) twice with weights 1 and 2, (1,0) with 3, (1,1) with 0, (0,1) with 2.
Particles example() {
  return {.states = {0, 2, 1, 0, 0, 2, 1, 1, 0, 1},
          .log_weights = {std::log(1.0), std::log(3.0), std::log(2.0), kNegInf, std::log(2.0)},
          .log_densities = {-1.0, 2.0, -1.0, 7.0, 0.5}};
}

TEST(ParticleApproximation, MergesEqualAtomsAndDropsThoseOfWeightZero) {
  const ParticleApproximation approximation(two_variables(), example());
  ASSERT_EQ(approximation.num_atoms(), 3);
  EXPECT_NEAR(approximation.log_prob(Assignment{0, 2}), std::log(3.0 / 8), 1e-15);
  EXPECT_NEAR(approximation.log_prob(Assignment{1, 0}), std::log(3.0 / 8), 1e-15);
  EXPECT_NEAR(approximation.log_prob(Assignment{0, 1}), std::log(2.0 / 8), 1e-15);
  EXPECT_EQ(approximation.log_prob(Assignment{1, 1}), kNegInf);
  EXPECT_EQ(approximation.log_prob(Assignment{1, 2}), kNegInf);
  EXPECT_EQ(approximation.log_prob(Assignment{0, 0}), kNegInf);
  EXPECT_NEAR(approximation.entropy(), -2 * 0.375 * std::log(0.375) - 0.25 * std::log(0.25), 1e-15);
  EXPECT_NEAR(approximation.mean_log_density(), 0.375 * -1.0 + 0.375 * 2.0 + 0.25 * 0.5, 1e-15);
}

TEST(ParticleApproximation, MarginalsAndBestAreThoseOfTheAtoms) {
  const ParticleApproximation approximation(two_variables(), example());
  const Marginals marginals = approximation.marginals();
  EXPECT_NEAR(marginals[0][0], 0.625, 1e-15);
  EXPECT_NEAR(marginals[0][1], 0.375, 1e-15);
  EXPECT_NEAR(marginals[1][0], 0.375, 1e-15);
  EXPECT_NEAR(marginals[1][1], 0.25, 1e-15);
  EXPECT_NEAR(marginals[1][2], 0.375, 1e-15);
  const auto best = approximation.best();  // not the denser one of weight 0
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->x, (Assignment{1, 0}));
  EXPECT_EQ(best->log_density, 2.0);
}

TEST(ParticleApproximation, HugeLogWeightsAreOnlyRelative) {
  Particles particles = example();
  for (double& log_weight : particles.log_weights) log_weight += 5000.0;
  const ParticleApproximation approximation(two_variables(), particles);
  EXPECT_NEAR(approximation.log_prob(Assignment{0, 1}), std::log(2.0 / 8), 1e-11);
}

// The logarithm of the total has no digits left behind the point.
TEST(ParticleApproximation, ProbabilitiesAddUpWhateverTheSizeOfLogWeights) {
  const Particles particles{
      .states = {0, 0, 0, 1, 1, 2}, .log_weights = {1e16, 1e16, 1e16}, .log_densities = {1e16, 1e16, 1e16}};
  const ParticleApproximation approximation(two_variables(), particles);
  EXPECT_NEAR(approximation.marginals()[0][0], 2.0 / 3.0, 1e-15);
  EXPECT_NEAR(approximation.log_prob(Assignment{1, 2}), std::log(1.0 / 3.0), 1e-15);
}

// Each frequency within 5 standard errors: a false alarm in fewer than 2 of 1e6 seeds.
TEST(ParticleApproximation, SamplesFollowTheProbabilities) {
  const ParticleApproximation approximation(two_variables(), example());
  Random random(3);
  constexpr int kSamples = 20'000;
  std::vector<int> counts(6, 0);
  for (int i = 0; i < kSamples; ++i) {
    const Assignment x = approximation.sample(random);
    ++counts[x[0] * 3 + x[1]];
  }
  for (int index = 0; index < 6; ++index) {
    const double p = std::exp(approximation.log_prob(Assignment{index / 3, index % 3}));
    EXPECT_NEAR(counts[index], kSamples * p, 5.0 * std::sqrt(kSamples * p * (1.0 - p)));
  }
}

TEST(ParticleApproximation, WithoutAtomsOnlyLogProbAndBestAnswer) {
  const Particles dead{.states = {0, 0}, .log_weights = {kNegInf}, .log_densities = {kNegInf}};
  for (const Particles& particles : {Particles{}, dead}) {
    const ParticleApproximation approximation(two_variables(), particles);
    EXPECT_TRUE(approximation.is_empty());
    EXPECT_EQ(approximation.log_prob(Assignment{0, 0}), kNegInf);
    EXPECT_FALSE(approximation.best().has_value());
    Random random(0);
    EXPECT_THROW(static_cast<void>(approximation.sample(random)), Error);
    EXPECT_THROW(static_cast<void>(approximation.entropy()), Error);
    EXPECT_THROW(static_cast<void>(approximation.mean_log_density()), Error);
    EXPECT_THROW(static_cast<void>(approximation.marginals()), Error);
  }
}

TEST(ParticleApproximation, ModelWithoutVariablesHasOneAtom) {
  const ParticleApproximation approximation(FactorGraph(),
                                            {.states = {}, .log_weights = {0.0, 0.0}, .log_densities = {1.5, 1.5}});
  EXPECT_EQ(approximation.num_atoms(), 1);
  EXPECT_EQ(approximation.log_prob(Assignment{}), 0.0);
  EXPECT_EQ(approximation.entropy(), 0.0);
  EXPECT_EQ(approximation.mean_log_density(), 1.5);
}

TEST(ParticleApproximation, RefusesAnAssignmentOfTheWrongLength) {
  const ParticleApproximation approximation(two_variables(), example());
  EXPECT_THROW(static_cast<void>(approximation.log_prob(Assignment{0})), Error);
}

}  // namespace
}  // namespace treesample
