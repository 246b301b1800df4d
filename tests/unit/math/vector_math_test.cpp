#include "treesample/math/vector_math.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "treesample/math/random.hpp"

namespace treesample {
namespace {

// Against long double, over all lengths that exercise the vector body and its remainder.
TEST(VectorMath, ExpAndLogAgreeWithTheCLibrary) {
  Random random(1);
  for (int count = 0; count < 40; ++count) {
    std::vector<double> x(count), values;
    for (double& value : x)
      value = 1400.0 * (random.uniform() - 0.5) * std::pow(10.0, -static_cast<double>(random.below(9)));
    values = x;
    exp_each(values);
    for (int i = 0; i < count; ++i) {
      EXPECT_NEAR(static_cast<double>(values[i] / std::exp(static_cast<long double>(x[i]))), 1.0, 4e-16) << x[i];
    }
    std::vector<double> logs = values;
    log_each(logs);
    for (int i = 0; i < count; ++i) {
      const auto expected = static_cast<double>(std::log(static_cast<long double>(values[i])));
      EXPECT_NEAR(logs[i], expected, 5e-16 * std::abs(expected)) << values[i];
    }
  }
}

TEST(VectorMath, ExpIsClampedOutsideItsRange) {
  std::vector<double> values = {-1e9, 1e9, -HUGE_VAL};
  exp_each(values);
  EXPECT_NEAR(std::log(values[0]), -700.0, 1e-9);
  EXPECT_NEAR(std::log(values[1]), 700.0, 1e-9);
  EXPECT_NEAR(std::log(values[2]), -700.0, 1e-9);
}

TEST(VectorMath, LogOfOneIsZero) {
  std::vector<double> values(9, 1.0);
  log_each(values);
  for (const double value : values) EXPECT_EQ(value, 0.0);
}

}  // namespace
}  // namespace treesample
