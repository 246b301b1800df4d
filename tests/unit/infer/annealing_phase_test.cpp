#include "infer/annealing_phase.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace treesample {
namespace {

BoundedImportance samples_of(double log_z, LogBounds interval, double ess) {
  BoundedImportance samples;
  samples.log_z = log_z;
  samples.interval = interval;
  samples.ess = ess;
  return samples;
}

TEST(AnnealingPhase, TheEstimateIsWithinTheIntervalOfBothKindsOfSamples) {
  AnnealedPhase annealed;
  annealed.samples = samples_of(67.53, {67.4, HUGE_VAL}, 217.0);
  const BoundedImportance low = annealed.joined(samples_of(67.7, {67.64, 79.4}, 100.0), 0.95);
  EXPECT_EQ(low.interval.lower, 67.64);
  EXPECT_EQ(low.interval.upper, 79.4);
  EXPECT_EQ(low.log_z, 67.64) << "the chains' estimate, moved into the interval";
  EXPECT_EQ(low.ess, 217.0);
  const BoundedImportance inside = annealed.joined(samples_of(67.7, {67.0, 79.4}, 100.0), 0.95);
  EXPECT_EQ(inside.log_z, 67.53);
  EXPECT_EQ(inside.interval.lower, 67.4);
  const BoundedImportance others = annealed.joined(samples_of(67.7, {67.64, 79.4}, 1000.0), 0.95);
  EXPECT_EQ(others.log_z, 67.7) << "more of the other samples count";
}

}  // namespace
}  // namespace treesample
