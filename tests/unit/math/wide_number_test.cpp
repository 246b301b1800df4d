#include "math/wide_number.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

template <class Number>
class WideNumberTest : public ::testing::Test {};
using Units = ::testing::Types<BasicWideNumber<256>, BasicWideNumber<768>>;
TYPED_TEST_SUITE(WideNumberTest, Units);

// With more digits than the numbers have.
template <int kBits>
long double exact_log(const BasicWideNumber<kBits>& number) {
  return std::log(static_cast<long double>(number.mantissa)) + number.exponent * (kBits * 0.693147180559945309417232L);
}

TYPED_TEST(WideNumberTest, LogarithmsComeBackInOneForm) {
  for (const double log :
       {0.0, 1e-12, -1.0, 88.7, 88.8, 266.1, 266.2, -266.2, 700.0, -745.2, 5000.0, -123456.7, 1.6e7, -1.6e7, 1e9}) {
    const TypeParam number = TypeParam::of_log(log);
    EXPECT_GE(number.mantissa, TypeParam::kLeast) << log;
    EXPECT_LT(number.mantissa, TypeParam::kMost) << log;
    EXPECT_NEAR(static_cast<double>(exact_log(number) - log), 0.0, TypeParam::of_log_error(log)) << log;
    EXPECT_NEAR(static_cast<double>(exact_log(number) - number.log()), 0.0, TypeParam::log_error(log)) << log;
  }
  EXPECT_EQ(TypeParam::of_log(kNegInf).log(), kNegInf);
  EXPECT_EQ(TypeParam::of_log(kInf).log(), kInf);
}

TYPED_TEST(WideNumberTest, OrderIsThatOfTheLogarithms) {
  const std::vector<double> logs = {kNegInf, -1e7,  -800.0, -267.0, -266.0, -1.0, 0.0,
                                    1.0,     266.0, 267.0,  800.0,  1e7,    kInf};
  for (const double a : logs) {
    for (const double b : logs) EXPECT_EQ(TypeParam::of_log(a) < TypeParam::of_log(b), a < b) << a << ' ' << b;
  }
}

// Near the ends of units and far from them: one rounding, and the unique form.
TYPED_TEST(WideNumberTest, SumsAndProductsHaveOneRounding) {
  Random random(1, "wide numbers");
  const double half_unit = 0.5 * TypeParam::kUnitBits * std::log(2.0);
  for (int trial = 0; trial < 20'000; ++trial) {
    const auto some_log = [&] { return half_unit * std::round(8.0 * random.uniform() - 4.0) + 2.0 * random.normal(); };
    const TypeParam a = TypeParam::of_log(some_log()), b = TypeParam::of_log(some_log());
    const long double log_a = exact_log(a), log_b = exact_log(b);
    TypeParam sum = a;
    sum += b;
    const TypeParam product = a * b;
    for (const TypeParam& result : {sum, product}) {
      EXPECT_GE(result.mantissa, TypeParam::kLeast);
      EXPECT_LT(result.mantissa, TypeParam::kMost);
    }
    const long double larger = std::max(log_a, log_b), smaller = std::min(log_a, log_b);
    const long double log_sum = larger + std::log1p(std::exp(smaller - larger));
    const double of_long_double = 1e-18 * (10.0 + 20.0 * half_unit);
    ASSERT_NEAR(static_cast<double>(exact_log(sum) - log_sum), 0.0, 1.01 * 0x1.0p-53 + of_long_double);
    ASSERT_NEAR(static_cast<double>(exact_log(product) - (log_a + log_b)), 0.0, 1.01 * 0x1.0p-53 + of_long_double);
  }
  TypeParam nothing;
  nothing += TypeParam();
  EXPECT_EQ(nothing, TypeParam());
  nothing += TypeParam::of_log(5000.0);
  EXPECT_EQ(nothing, TypeParam::of_log(5000.0));
  nothing += TypeParam();
  EXPECT_EQ(nothing, TypeParam::of_log(5000.0));
  nothing += TypeParam::of_log(kInf);
  EXPECT_TRUE(nothing.is_infinite());
}

}  // namespace
}  // namespace treesample
