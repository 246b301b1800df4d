// For tests of samplers: checks that counts follow probabilities.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <span>

namespace treesample::testing {

// The quantile that chance exceeds with probability 1e-6 (Wilson-Hilferty approximation).
inline double chi_square_quantile_1e6(double degrees) {
  constexpr double kNormalQuantile = 4.7534;  // of 1 - 1e-6
  const double t = 2.0 / (9.0 * degrees);
  return degrees * std::pow(1.0 - t + kNormalQuantile * std::sqrt(t), 3.0);
}

// A chi-square test with a false-alarm rate of 1e-6. Cells of probability 0 must stay empty; cells with fewer than 10
// expected samples are merged.
inline void expect_counts_follow(std::span<const int> counts, std::span<const double> log_probs) {
  double num_samples = 0.0;
  for (const int count : counts) num_samples += count;
  double statistic = 0.0, pooled_expected = 0.0;
  int pooled_count = 0, num_cells = 0;
  const auto add_cell = [&](int count, double expected) {
    statistic += (count - expected) * (count - expected) / expected;
    ++num_cells;
  };
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = num_samples * std::exp(log_probs[i]);
    if (expected == 0.0) {
      EXPECT_EQ(counts[i], 0) << "cell " << i;
    } else if (expected < 10.0) {
      pooled_expected += expected;
      pooled_count += counts[i];
    } else {
      add_cell(counts[i], expected);
    }
  }
  if (pooled_expected >= 10.0) add_cell(pooled_count, pooled_expected);
  if (num_cells > 1) {
    EXPECT_LT(statistic, chi_square_quantile_1e6(num_cells - 1));
  }
}

}  // namespace treesample::testing
