#include "evaluate/lower_limit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

TEST(LowerLimit, SaysNothingWithoutNumbersAboveZero) {
  LowerLimit limit(0.05);
  EXPECT_EQ(limit.log_limit(), kNegInf);
  for (int i = 0; i < 100; ++i) limit.add(kNegInf, 100.0);
  EXPECT_EQ(limit.log_limit(), kNegInf);
}

// n equal numbers: no limit can be closer than about log(1 / delta) / n.
TEST(LowerLimit, ComesCloseToConstantNumbers) {
  LowerLimit limit(0.05);
  for (int i = 0; i < 300; ++i) limit.add(700.0, 300.0);
  EXPECT_LT(limit.log_limit(), 700.0);
  EXPECT_GT(limit.log_limit(), 700.0 - 2.0 * std::log(20.0) / 300.0);
}

TEST(LowerLimit, MovesWithTheUnit) {
  LowerLimit small(0.1), large(0.1);
  Random random(1, "numbers");
  for (int i = 0; i < 500; ++i) {
    const double log_number = i % 7 == 0 ? kNegInf : random.normal();
    small.add(log_number - 2000.0, 500.0);
    large.add(log_number + 2000.0, 500.0);
  }
  EXPECT_NEAR(small.log_limit() + 2000.0, large.log_limit() - 2000.0, 1e-6);
}

// One number of e^50 among ones says that the mean may be large, not that it is.
TEST(LowerLimit, IsNotMovedFarByOneLargeNumber) {
  LowerLimit limit(0.01);
  for (int i = 0; i < 1000; ++i) limit.add(i == 500 ? 50.0 : 0.0, 1000.0);
  EXPECT_GT(limit.log_limit(), 0.0);
  EXPECT_LT(limit.log_limit(), 50.0 - std::log(1000.0));
}

TEST(LowerLimit, RefusesOtherProbabilities) {
  testing::expect_error(ErrorCode::kArgument, "error_probability", [] { LowerLimit(0.0); });
  testing::expect_error(ErrorCode::kArgument, "error_probability", [] { LowerLimit(1.0); });
}

}  // namespace
}  // namespace treesample
