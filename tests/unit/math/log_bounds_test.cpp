#include "treesample/math/log_bounds.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace treesample {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(LogBounds, AreWidenedOutwardByAnythingAtAll) {
  for (const double value : {-1e17, -3.5, 0.0, 1e-300, 266.0, 1e300}) {
    for (const double error : {5e-324, 1e-30, 1e-3, 17.0}) {
      const LogBounds wide = LogBounds{value, value}.widened(error);
      EXPECT_LT(wide.lower, value) << value << " " << error;  // also where the error is far below one unit
      EXPECT_GT(wide.upper, value) << value << " " << error;
      // In wider numbers, without rounding: all of the error is there.
      EXPECT_GE(static_cast<long double>(value) - wide.lower, static_cast<long double>(error)) << value << " " << error;
      EXPECT_GE(static_cast<long double>(wide.upper) - value, static_cast<long double>(error)) << value << " " << error;
    }
  }
}

TEST(LogBounds, WhatIsKnownExactlyStaysSo) {
  EXPECT_EQ(LogBounds::around(0.5, 0.0).lower, 0.5);
  EXPECT_EQ(LogBounds::around(0.5, 0.0).upper, 0.5);
  EXPECT_EQ(LogBounds::around(-kInf, 0.1).upper, -kInf);
  EXPECT_TRUE(LogBounds::around(-kInf, 0.1).is_exact());
  EXPECT_EQ(LogBounds{}.widened(1.0).lower, -kInf);
  EXPECT_EQ(LogBounds{}.widened(1.0).upper, kInf);
}

}  // namespace
}  // namespace treesample
