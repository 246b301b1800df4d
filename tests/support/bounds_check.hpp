// An observer of a search with bounds. It expects that the bounds always contain log Z and never widen.
#pragma once

#include <gtest/gtest.h>

#include "treesample/search/search.hpp"

namespace treesample::testing {

class BoundsCheck {
 public:
  explicit BoundsCheck(double log_z) : log_z_(log_z) {}

  void operator()(const Progress& now) {
    EXPECT_LE(now.log_z.lower, log_z_);
    EXPECT_GE(now.log_z.upper, log_z_);
    EXPECT_GE(now.log_z.lower, before_.lower);
    EXPECT_LE(now.log_z.upper, before_.upper);
    before_ = now.log_z;
  }

 private:
  double log_z_;
  LogBounds before_;
};

}  // namespace treesample::testing
