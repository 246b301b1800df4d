// Moments are compared within six standard errors: a false alarm once in 5e8 comparisons.
#include "treesample/math/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace treesample {
namespace {

constexpr int kCount = 100'000;

template <class Draw>
void expect_moments(const Draw& draw, double mean, double variance) {
  double sum = 0.0, squares = 0.0;
  for (int i = 0; i < kCount; ++i) {
    const double value = draw();
    sum += value;
    squares += (value - mean) * (value - mean);
  }
  EXPECT_NEAR(sum / kCount, mean, 6.0 * std::sqrt(variance / kCount));
  EXPECT_NEAR(squares / kCount / variance, 1.0, 0.1);
}

TEST(Random, StreamsOfOneSeedDifferAndRepeat) {
  Random a(5, "ties"), b(5, "ties"), c(5, "samples"), d(6, "ties");
  const std::uint64_t first = a.bits();
  EXPECT_EQ(first, b.bits());
  EXPECT_NE(first, c.bits());
  EXPECT_NE(first, d.bits());
}

TEST(Random, MomentsOfTheDistributions) {
  Random random(1);
  expect_moments([&] { return random.uniform(); }, 0.5, 1.0 / 12);
  expect_moments([&] { return random.normal(); }, 0.0, 1.0);
  expect_moments([&] { return random.gamma(0.4); }, 0.4, 0.4);
  expect_moments([&] { return random.gamma(3.5); }, 3.5, 3.5);
  expect_moments([&] { return static_cast<double>(random.below(7)); }, 3.0, 4.0);
}

TEST(Random, CategoricalNeverTakesAStateOfWeightZero) {
  Random random(2);
  const std::vector<double> weights = {0.0, 3.0, 0.0, 1.0, 0.0};
  std::vector<int> counts(5, 0);
  for (int i = 0; i < kCount; ++i) ++counts[random.categorical(weights)];
  EXPECT_EQ(counts[0] + counts[2] + counts[4], 0);
  EXPECT_NEAR(counts[1], 0.75 * kCount, 6.0 * std::sqrt(0.75 * 0.25 * kCount));
}

TEST(Random, PermutationHasEveryItemOnceAndAnyOrder) {
  Random random(3);
  std::vector<int> first_counts(4, 0);
  for (int i = 0; i < 4000; ++i) {
    std::vector<int> items = random.permutation(4);
    ++first_counts[items[0]];
    std::sort(items.begin(), items.end());
    ASSERT_EQ(items, (std::vector<int>{0, 1, 2, 3}));
  }
  for (const int count : first_counts) EXPECT_NEAR(count, 1000, 6.0 * std::sqrt(750.0));
  EXPECT_TRUE(random.permutation(0).empty());
}

}  // namespace
}  // namespace treesample
