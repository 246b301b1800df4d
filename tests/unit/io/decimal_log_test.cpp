#include "io/decimal_log.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

std::string written(double log_value) {
  std::string text;
  append_exp_decimal(text, log_value);
  return text;
}

TEST(DecimalLog, ReadsEveryNotationOfANonNegativeNumber) {
  EXPECT_EQ(log_of_decimal("1"), 0.0);
  EXPECT_EQ(log_of_decimal("1.000"), 0.0);
  EXPECT_EQ(log_of_decimal("0.25"), std::log(0.25));
  EXPECT_EQ(log_of_decimal(".25"), std::log(0.25));
  EXPECT_EQ(log_of_decimal("25."), std::log(25.0));
  EXPECT_EQ(log_of_decimal("2.5E+2"), std::log(250.0));
  for (const char* zero : {"0", "0.0", ".0", "0e5", "0.000e-9", "00", "-0", "-0.0", "0e-99999999999999999999999"}) {
    EXPECT_EQ(log_of_decimal(zero), kNegInf) << zero;
  }
}

// The rest of a weight near 1 keeps its digits.
TEST(DecimalLog, TakesTheRestOfANumberThatIsNearOne) {
  const auto expect = [](const char* text, double log_value, double log_rest) {
    ASSERT_TRUE(log_of_fraction(text) && log_of_rest(text)) << text;
    const auto is_near = [](double found, double wanted) {
      return found == wanted || std::abs(found - wanted) <= 2e-16 * (1.0 + std::abs(wanted));
    };
    EXPECT_TRUE(is_near(*log_of_fraction(text), log_value)) << text << " " << *log_of_fraction(text);
    EXPECT_TRUE(is_near(*log_of_rest(text), log_rest)) << text << " " << *log_of_rest(text);
  };
  const double log10 = std::numbers::ln10;
  expect("0.99999999999999999999999999", 0.0, -26.0 * log10);
  expect("0.99999", std::log(0.99999), -5.0 * log10);
  expect("1.000", 0.0, kNegInf);
  expect("0", kNegInf, 0.0);
  expect("1e-400", -400.0 * log10, 0.0);
  expect("0.5", -std::numbers::ln2, -std::numbers::ln2);
  expect("99999/1e5", std::log(0.99999), -5.0 * log10);
  expect("1e300/1.00e300", 0.0, kNegInf);
  expect("2/3", std::log(2.0L / 3.0L), -std::log(3.0));
  expect("123456788e300/123456789e300", std::log1p(-1.0 / 123456789), -std::log(123456789.0));
  expect("9.5e-1", std::log(0.95), std::log(0.05));
  for (const char* const text : {"1/0", "", "-1", "1/", "/2", "x", "1/2/3"})
    EXPECT_FALSE(log_of_fraction(text)) << text;
  for (const char* const text : {"1.00000000000000000000001", "3/2", "100", "1/0"})
    EXPECT_FALSE(log_of_rest(text)) << text;
}

TEST(DecimalLog, RefusesEverythingElse) {
  for (const char* token : {"",
                            ".",
                            "-1",
                            "--0",
                            "-",
                            "+1",
                            "inf",
                            "nan",
                            "INFINITY",
                            "0x10",
                            "1e",
                            "1e+",
                            "1,5",
                            "1..2",
                            "1d3",
                            "e5",
                            "abc",
                            "1e99999999999999999999",
                            "1e-99999999999999999999",
                            "1e1000000000000001"}) {
    EXPECT_EQ(log_of_decimal(token), std::nullopt) << token;
  }
}

// The expected values are m log 10 + log of the leading digits.
TEST(DecimalLog, NumbersOutsideTheRangeOfADoubleKeepTheirMeaning) {
  constexpr double kLn10 = std::numbers::ln10;
  EXPECT_DOUBLE_EQ(*log_of_decimal("1e-400"), -400 * kLn10);
  EXPECT_DOUBLE_EQ(*log_of_decimal("2.5e+2000"), 2000 * kLn10 + std::log(2.5));
  EXPECT_DOUBLE_EQ(*log_of_decimal("1" + std::string(400, '0')), 400 * kLn10);
  EXPECT_DOUBLE_EQ(*log_of_decimal("0." + std::string(399, '0') + "123456789012345678901234"),
                   -400 * kLn10 + std::log(1.23456789012345678));
  EXPECT_DOUBLE_EQ(*log_of_decimal("1" + std::string(500, '0') + ".5e-900"), -400 * kLn10);
  EXPECT_DOUBLE_EQ(*log_of_decimal("1.5e-320"), -320 * kLn10 + std::log(1.5)) << "a subnormal double has lost digits";
}

TEST(DecimalLog, WritesTheShortestTextThatReadsBack) {
  EXPECT_EQ(written(kNegInf), "0");
  EXPECT_EQ(written(0.0), "1");
  EXPECT_EQ(written(std::log(0.5)), "0.5");
  EXPECT_EQ(written(std::log(0.25)), "0.25");
}

TEST(DecimalLog, LogValuesOfAnySizeReturnWithinRounding) {
  Random random(1, "log-values");
  for (const double scale : {1e-12, 1.0, 100.0, 700.0, 1000.0, 1e5, 1e10, 1e15}) {
    for (int i = 0; i < 500; ++i) {
      const double log_value = scale * (2.0 * random.uniform() - 1.0);
      const std::optional<double> read = log_of_decimal(written(log_value));
      ASSERT_TRUE(read.has_value()) << written(log_value);
      EXPECT_NEAR(*read, log_value, 3e-16 * std::max(1.0, 4.0 * std::abs(log_value))) << written(log_value);
    }
  }
  for (const double edge : {std::log(std::numeric_limits<double>::max()), std::log(std::numeric_limits<double>::min()),
                            709.8, -708.4, -745.2, kMaxDecimalLog, -kMaxDecimalLog}) {
    EXPECT_NEAR(*log_of_decimal(written(edge)), edge, 1e-15 * std::abs(edge)) << written(edge);
  }
}

// So that a file that is written and read again and again does not drift.
TEST(DecimalLog, BeyondDoublesTheSameLogValueReturns) {
  Random random(2, "log-values");
  for (const double scale : {1e3, 1e4, 1e6, 1e9, 1e12, 1e15}) {
    for (int i = 0; i < 500; ++i) {
      const double log_value = (random.uniform() < 0.5 ? -1.0 : 1.0) * (750.0 + (scale - 750.0) * random.uniform());
      EXPECT_EQ(log_of_decimal(written(log_value)), log_value) << written(log_value);
    }
  }
}

// Computed with 60 digits. Doubles alone are off by more than a unit here.
TEST(DecimalLog, BeyondDoublesItIsRightToOneUnit) {
  const std::pair<const char*, long double> expected[] = {
      {"9.93914294677365621e-315", -723.017823498831880802562488L},
      {"4.58992407027595739e-316", -726.093025904606348455515155L},
      {"6.45503679384798465e-338", -776.408900707651171303063164L},
      {"1.88200155986834530e-315", -724.681968423126080967087381L},
      {"5.48906906454562700e314", 724.714477871973763423771193L},
      {"1.44290802086376803e-338", -777.907100895832440183593452L},
  };
  for (const auto& [token, log] : expected) {
    EXPECT_LE(std::abs(*log_of_decimal(token) - log), 0x1.0p-52L * std::abs(log)) << token;
  }
}

}  // namespace
}  // namespace treesample
