#include "treesample/math/log_domain.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace treesample {
namespace {

TEST(LogDomain, LogSumExpOfNothingAndOfZerosIsLogZero) {
  EXPECT_EQ(log_sum_exp({}), kNegInf);
  EXPECT_EQ(log_sum_exp(std::vector<double>{kNegInf, kNegInf}), kNegInf);
  EXPECT_EQ(log_add_exp(kNegInf, kNegInf), kNegInf);
}

TEST(LogDomain, LogSumExpNeitherOverflowsNorLosesSmallTerms) {
  EXPECT_NEAR(log_sum_exp(std::vector<double>{1e4, 1e4}), 1e4 + std::log(2.0), 1e-11);
  EXPECT_NEAR(log_sum_exp(std::vector<double>{-1e4, kNegInf, -1e4 + 1}), -1e4 + std::log1p(std::exp(1.0)), 1e-11);
  EXPECT_NEAR(log_add_exp(3.0, kNegInf), 3.0, 0.0);
  EXPECT_NEAR(log_add_exp(0.0, -40.0), std::exp(-40.0), 1e-25);
}

TEST(LogDomain, Log1mexpIsAccurateAtBothEnds) {
  EXPECT_EQ(log1mexp(0.0), kNegInf);
  EXPECT_NEAR(log1mexp(1e-20), std::log(1e-20), 1e-12);
  EXPECT_NEAR(log1mexp(50.0), -std::exp(-50.0), 1e-30);
}

TEST(LogDomain, SoftmaxSumsToOneOrIsAllZero) {
  std::vector<double> q = {1e3, 1e3 - 1, kNegInf};
  EXPECT_NEAR(softmax(q, q), 1e3 + std::log1p(std::exp(-1.0)), 1e-10);
  EXPECT_NEAR(q[0] + q[1], 1.0, 1e-15);
  EXPECT_EQ(q[2], 0.0);
  std::vector<double> none = {kNegInf, kNegInf};
  EXPECT_EQ(softmax(none, none), kNegInf);
  EXPECT_EQ(none[0], 0.0);
}

}  // namespace
}  // namespace treesample
