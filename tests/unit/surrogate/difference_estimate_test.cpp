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

}  // namespace
}  // namespace treesample
