#pragma once

#include <gtest/gtest.h>

#include "treesample/model/approximation.hpp"

namespace treesample::testing {

inline void expect_equal_marginals(const Marginals& actual, const Marginals& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t v = 0; v < expected.size(); ++v) {
    ASSERT_EQ(actual[v].size(), expected[v].size());
    for (std::size_t a = 0; a < expected[v].size(); ++a) ASSERT_NEAR(actual[v][a], expected[v][a], tolerance);
  }
}

}  // namespace treesample::testing
