#include "surrogate/difference_estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace treesample {
namespace {

// Both states of the variable were learned with far more mass than the samples' true values leave of it.
TEST(DifferenceEstimate, SamplesThatDenyEveryStateLeaveTheMarginals) {
  const std::vector<TargetSample> samples = {{{0}, -500.0, 10.0}, {{1}, -500.0, 10.0}};
  const Marginals marginals = {{0.25, 0.75}};
  const SampledErrors errors = difference_estimate(-500.0, 0.0, marginals, samples, {0.95, 0.0});
  EXPECT_FALSE(errors.no_error.empty());
  EXPECT_EQ(errors.std_error, HUGE_VAL);  // not 0, which would be certainty
  EXPECT_EQ(errors.marginals, marginals);
}

// Thirty samples that agree with what was learned, of a mass that is a tenth of what is known.
SampledErrors of_agreeing_samples(const ErrorSettings& settings) {
  const std::vector<TargetSample> samples(30, {{0}, std::log(0.1), std::log(0.1), -4.0});
  return difference_estimate(0.0, std::log(0.1), {{0.5, 0.5}}, samples, settings);
}

TEST(DifferenceEstimate, SamplesTestWhatTheSurrogateThinksPossible) {
  const double exact = of_agreeing_samples({0.95, 0.0}).std_error, wide = of_agreeing_samples({0.95, 1.0}).std_error;
  EXPECT_NEAR(std::sqrt(wide * wide - exact * exact), 0.1 / 1.1 / std::sqrt(31.0), 1e-9);
}

// Ten values that were foreseen 2 nats too low: exp(4) times the learned mass may be elsewhere.
TEST(DifferenceEstimate, TheIntervalReachesUpToWhatMayBeElsewhere) {
  const std::vector<Foreseen> surprising(1000, {-3.0, -1.0});
  const SampledErrors errors = of_agreeing_samples({0.95, 0.0, surprising});
  EXPECT_GT(errors.interval.upper, std::log(1.0 + 0.1 * std::exp(3.0)));
  EXPECT_NE(errors.no_error, "");  // that is too much to be an error
  const std::vector<Foreseen> slightly(1000, {-3.0, -2.5});
  const SampledErrors wider = of_agreeing_samples({0.95, 0.0, slightly});
  EXPECT_EQ(wider.no_error, "");
  EXPECT_NEAR(wider.interval.upper, std::log(1.0 + 0.1 * std::exp(0.5)), 0.01);
}

TEST(DifferenceEstimate, PredictionsFarBelowTheBestOnesMatterLittle) {
  std::vector<Foreseen> foreseen(50, {-0.5, -0.5});
  foreseen.push_back({-40.0, -35.0});
  EXPECT_NEAR(of_agreeing_samples({0.95, 0.0, foreseen}).interval.upper, of_agreeing_samples({}).interval.upper, 1e-3);
}

}  // namespace
}  // namespace treesample
