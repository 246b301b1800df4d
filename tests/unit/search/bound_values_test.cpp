#include "search/bound_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kUnitNats = 768 * 0.69314718055994530942;

// With more digits than the numbers have.
long double exact_log(const WideNumber& number) {
  return std::log(static_cast<long double>(number.mantissa)) + number.exponent * (768 * 0.693147180559945309417232L);
}

BoundValues sum_of(std::vector<BoundValues> values) {
  BoundValues::align(values);
  BoundValues sum = values[0];
  for (std::size_t i = 1; i < values.size(); ++i) sum.add(values[i]);
  return sum;
}

// The sum of the numbers that `part` takes from the values, in units of 2^(768 exponent), with 113 bits. What is ten
// thousand bits below is left out: of a lower bound that is allowed, of an upper one it cannot be seen.
template <typename Part>
__float128 quad_sum(const std::vector<BoundValues>& values, int exponent, Part part) {
  __float128 sum = 0;
  for (const BoundValues& value : values) {
    const WideNumber number = part(value);
    const int units = number.exponent - exponent;
    if (number.mantissa == 0.0 || units < -13) continue;
    __float128 term = number.mantissa;
    for (int i = 0; i < units; ++i) term *= WideNumber::kUnit;
    for (int i = 0; i > units; --i) term /= WideNumber::kUnit;
    sum += term;
  }
  return sum;
}

// A node that knows nothing.
BoundValues unknown() { return BoundValues::of_logs(kNegInf, kInf, kInf); }

TEST(BoundValues, BoundsAreMovedOutwardAndNotFar) {
  Random random(1, "bound values test");
  for (int trial = 0; trial < 2000; ++trial) {
    const double scale = std::pow(10.0, static_cast<double>(trial % 8) - 1.0);
    const double log = scale * (2.0 * random.uniform() - 1.0);
    const BoundValues values = BoundValues::of_logs(log, log, log);
    EXPECT_LE(exact_log(values.lower()), static_cast<long double>(log));
    EXPECT_GE(exact_log(values.upper()), static_cast<long double>(log));
    EXPECT_NEAR(values.log_lower(), log, 1e-14 * (1.0 + std::abs(log)));
    EXPECT_NEAR(values.log_upper(), log, 1e-14 * (1.0 + std::abs(log)));
    EXPECT_GE(values.log_upper_gap(), 0.0);
  }
}

TEST(BoundValues, GapsOfThousandsOfNatsAreKept) {
  for (const double gap : {0.5, 500.0, 5000.0, 130'000.0}) {
    for (const double upper : {-20'000.0, 0.0, 300.0, 1e6}) {
      const BoundValues values = BoundValues::of_logs(upper - gap, upper, upper - gap / 2);
      const double tolerance = 1e-14 * (1.0 + std::abs(upper) + gap);
      EXPECT_NEAR(values.log_lower(), upper - gap, tolerance);
      EXPECT_NEAR(values.log_upper(), upper, tolerance);
      EXPECT_NEAR(values.log_estimate(), upper - gap / 2, tolerance);
      EXPECT_NEAR(values.log_upper_gap(), gap, 2 * tolerance);
      EXPECT_NEAR(values.log_estimate_gap(), gap / 2, 2 * tolerance);
    }
  }
}

TEST(BoundValues, WhatDoesNotFitMovesAwayFromTheTruth) {
  // L too far below U, V too far off it.
  BoundValues values = BoundValues::of_logs(-200'000.0, 0.0, -150'000.0);
  EXPECT_TRUE(values.has_no_lower());
  EXPECT_EQ(values.log_lower(), kNegInf);
  EXPECT_LT(values.log_estimate(), -60'000.0);
  EXPECT_GT(values.log_estimate(), -150'000.0);
  EXPECT_NEAR(values.log_upper(), 0.0, 1e-14);
  // Exponents of more than 16 bits.
  values = BoundValues::of_logs(1e9, 1e9, 1e9);
  EXPECT_EQ(values.log_upper(), kInf);
  EXPECT_LT(values.log_lower(), 1e9);
  EXPECT_GT(values.log_lower(), 1e7);
  values = BoundValues::of_logs(-1e300, -1e300, -1e300);
  EXPECT_EQ(values.log_lower(), kNegInf);
  EXPECT_GT(values.log_upper(), -1e300);
  EXPECT_LT(values.log_upper(), -1e7);
  EXPECT_FALSE(values.is_dead());
}

TEST(BoundValues, InfinitiesStay) {
  BoundValues values = BoundValues::of_logs(kNegInf, kInf, -1234.5);
  EXPECT_EQ(values.log_lower(), kNegInf);
  EXPECT_EQ(values.log_upper(), kInf);
  EXPECT_NEAR(values.log_estimate(), -1234.5, 1e-11);
  EXPECT_EQ(values.log_upper_gap(), kInf);
  EXPECT_EQ(values.log_estimate_gap(), kInf);
  values *= BoundValues::of_logs(-1000.0, -900.0, -950.0);
  EXPECT_EQ(values.log_lower(), kNegInf);
  EXPECT_EQ(values.log_upper(), kInf);
  EXPECT_NEAR(values.log_estimate(), -2184.5, 1e-11);
  const BoundValues dead = BoundValues::of_logs(kNegInf, kNegInf, kNegInf);
  EXPECT_TRUE(dead.is_dead());
  EXPECT_EQ(dead.log_upper(), kNegInf);
  values.set_log_estimate(77.0);
  EXPECT_NEAR(values.log_estimate(), 77.0, 1e-13);
  EXPECT_EQ(values.log_upper(), kInf);
}

TEST(BoundValues, ProductsOfManyComponentsNeitherOverflowNorUnderflow) {
  for (const double each : {-300.0, 300.0, 40.0, -2000.0}) {
    BoundValues product(std::exp(-3.0));
    for (int j = 0; j < 100; ++j) product *= BoundValues::of_logs(each - 100.0, each, each - 50.0);
    EXPECT_NEAR(product.log_lower(), -3.0 + 100 * (each - 100.0), 1e-8);
    EXPECT_NEAR(product.log_upper(), -3.0 + 100 * each, 1e-8);
    EXPECT_NEAR(product.log_estimate(), -3.0 + 100 * (each - 50.0), 1e-8);
  }
}

// Edges of which some are too small to be seen, some dead, some in other units.
TEST(BoundValues, SumsAreThoseOfLogSumExp) {
  Random random(2, "bound values test");
  for (int trial = 0; trial < 2000; ++trial) {
    const double spread = std::pow(10.0, trial % 5);
    const int num_edges = 1 + trial % 4;
    std::vector<BoundValues> edges;
    std::vector<double> lower, upper, estimate;
    const double offset = 1e4 * (2.0 * random.uniform() - 1.0);
    for (int a = 0; a < num_edges; ++a) {
      const double factor_log = 120.0 * (2.0 * random.uniform() - 1.0);
      const bool is_dead = random.uniform() < 0.2;
      const double high = is_dead ? kNegInf : offset + spread * random.uniform();
      const double low = random.uniform() < 0.2 ? kNegInf : high - spread * random.uniform();
      const double middle = is_dead ? kNegInf : high - 0.5 * std::min(high - low, 2.0);
      edges.push_back(is_dead ? BoundValues()
                              : BoundValues::of_logs(low, high, middle).times_factor(std::exp(factor_log)));
      lower.push_back(low + factor_log);
      upper.push_back(high + factor_log);
      estimate.push_back(middle + factor_log);
    }
    BoundValues node = unknown();
    node.tighten(sum_of(edges), Outward(1e-13), true);
    const double tolerance = 1e-12 + 1e-14 * (std::abs(offset) + spread);
    const auto expect_near = [&](double value, double expected) {
      if (expected == kNegInf) {
        EXPECT_EQ(value, kNegInf);
      } else {
        EXPECT_NEAR(value, expected, tolerance);
      }
    };
    expect_near(node.log_lower(), log_sum_exp(lower));
    expect_near(node.log_upper(), log_sum_exp(upper));
    expect_near(node.log_estimate(), log_sum_exp(estimate));
  }
}

// Ends of units (266 + 532 k nats), factors that take mantissas far out of their range, bounds some of which are
// infinite, 1 to 5 edges: a sum never has an L above that of its summands, nor a U below.
TEST(BoundValues, SumsOfAnyMixtureAreOnTheRightSide) {
  Random random(4, "bound values test");
  int num_close = 0;
  const int num_trials = 200'000;
  for (int trial = 0; trial < num_trials; ++trial) {
    const auto below = [&](int end) { return static_cast<int>(random.below(static_cast<std::uint64_t>(end))); };
    const auto corner = [&] { return kUnitNats * (below(4) - 2 + 0.5) + 2.0 * random.normal(); };
    std::vector<BoundValues> edges;
    const int num_edges = 1 + below(5);
    for (int a = 0; a < num_edges; ++a) {
      const double lower = below(4) == 0 ? kNegInf : corner();
      const double upper = below(3) == 0 ? kInf : std::max(corner(), lower);
      const double estimate = below(4) == 0 ? upper : std::max(lower, std::min(upper, corner()));
      const double factor = std::exp((below(3) - 1) * 128.0);
      edges.push_back(BoundValues::of_logs(lower, upper, estimate).times_factor(factor));
    }
    BoundValues node = unknown();
    node.tighten(sum_of(edges), Outward(8 * 0x1.0p-52), true);
    const auto lower_of = [](const BoundValues& value) { return value.lower(); };
    const auto upper_of = [](const BoundValues& value) { return value.upper(); };
    const WideNumber lower = node.lower();
    const WideNumber upper = node.upper();
    const __float128 most = quad_sum(edges, lower.exponent, lower_of);
    ASSERT_LE(static_cast<__float128>(lower.mantissa), most) << trial;
    num_close += lower.mantissa >= most * 0.999999 ? 1 : 0;
    const bool has_upper =
        std::none_of(edges.begin(), edges.end(), [](const BoundValues& edge) { return edge.upper().mantissa == kInf; });
    ASSERT_EQ(upper.mantissa < kInf, has_upper) << trial;
    if (!has_upper) continue;
    const __float128 least = quad_sum(edges, upper.exponent, upper_of);
    ASSERT_GE(static_cast<__float128>(upper.mantissa), least) << trial;
    ASSERT_LE(static_cast<__float128>(upper.mantissa), least * 1.000001) << trial;
  }
  EXPECT_GT(num_close, num_trials * 9 / 10);  // nothing is given away
}

TEST(BoundValues, TighteningNeverLosesABoundAndKeepsVBetweenThem) {
  Random random(3, "bound values test");
  for (int trial = 0; trial < 200; ++trial) {
    const double spread = std::pow(10.0, trial % 5);
    const bool is_free = trial % 2 == 1;
    BoundValues node = unknown();
    for (int step = 0; step < 20; ++step) {
      const BoundValues before = node;
      const double lower = random.uniform() < 0.2 ? kNegInf : -spread * random.uniform();
      const double upper = random.uniform() < 0.2 ? kInf : spread * random.uniform();
      const double estimate = 2.0 * spread * (2.0 * random.uniform() - 1.0);
      node.tighten(BoundValues::of_logs(lower, upper, estimate), Outward(1e-14), is_free);
      EXPECT_FALSE(node.lower() < before.lower());
      EXPECT_FALSE(before.upper() < node.upper());
      const double lowest = std::min(before.log_upper(), upper);
      EXPECT_TRUE(node.log_upper() == lowest || std::abs(node.log_upper() - lowest) < 1e-12 * (1.0 + spread));
      EXPECT_FALSE(node.estimate() < node.lower());
      EXPECT_TRUE(is_free || !(node.upper() < node.estimate()));
      const double clamped = std::max(is_free ? estimate : std::min(estimate, node.log_upper()), node.log_lower());
      EXPECT_NEAR(node.log_estimate(), clamped, 1e-12 * (1.0 + spread));
    }
    node.tighten(BoundValues(), Outward(1e-14), is_free);
    EXPECT_TRUE(node.is_dead());
  }
}

// Between neighbours of a unit's end: L and U are close but have different exponents.
TEST(BoundValues, UnresolvedMassIsRightAcrossUnits) {
  const double end = 0.5 * kUnitNats;
  BoundValues values = BoundValues::of_logs(end - 0.5, end + 0.5, end);
  ASSERT_NE(values.lower().exponent, values.upper().exponent);
  EXPECT_NEAR(values.unresolved_mass() / values.upper().mantissa, 1.0 - std::exp(-1.0), 1e-11);
  values = BoundValues::of_logs(-1.0, 0.0, 0.0);
  EXPECT_NEAR(values.unresolved_mass(), 1.0 - std::exp(-1.0), 1e-14);
  values = BoundValues::of_logs(-5000.0, 0.0, 0.0);
  EXPECT_NEAR(values.unresolved_mass(), 1.0, 1e-14);
}

}  // namespace
}  // namespace treesample
