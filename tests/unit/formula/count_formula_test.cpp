// Exact counts against enumeration, and formulas with known counts.
#include "treesample/formula/count_formula.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "formula/integer.hpp"
#include "support/expect_error.hpp"
#include "support/formulas.hpp"
#include "support/trials.hpp"

namespace treesample {
namespace {

// count / 4^num_shown, in lowest terms.
std::string expected_text(const testing::EnumeratedFormula& truth) {
  Integer count(truth.count), divisor(1);
  divisor.shift(2 * static_cast<std::uint64_t>(truth.num_shown));
  const Integer common = common_divisor(count, divisor);
  count.divide_exactly(common);
  divisor.divide_exactly(common);
  return count.text() + "/" + divisor.text();
}

std::string text_of(const FormulaCount& count) {
  return count.is_solved ? count.numerator + "/" + count.denominator : "not solved";
}

TEST(CountFormula, AgreesWithEnumerationToTheLastDigit) {
  Random random(1, "formulas");
  for (int trial = 0; trial < testing::num_trials(1500); ++trial) {
    const Formula formula = testing::random_formula(random, {.has_negative = trial % 5 == 0});
    const testing::EnumeratedFormula truth = testing::enumerate_formula(formula);
    for (const FormulaOptions& options :
         {FormulaOptions(), FormulaOptions{.has_definitions = false}, FormulaOptions{.has_reductions = false},
          FormulaOptions{.has_elimination = false},
          FormulaOptions{.has_reductions = false, .has_elimination = false}}) {
      const FormulaCount count = count_formula(formula, {}, options);
      ASSERT_EQ(text_of(count), expected_text(truth)) << trial << "\n" << format_formula(formula);
      ASSERT_EQ(count.is_satisfiable, truth.is_satisfiable) << format_formula(formula);
      if (count.has_negative_weights || truth.count == 0) continue;
      const double log_count = std::log(static_cast<double>(truth.count)) - truth.num_shown * std::log(4.0);
      ASSERT_LE(count.log_count.lower, log_count + 1e-12);
      ASSERT_GE(count.log_count.upper, log_count - 1e-12);
    }
  }
}

// A chain of implications x1 -> x2 -> ... has n + 1 solutions.
Formula chain(int size) {
  Formula formula{.num_variables = size};
  for (int v = 1; v < size; ++v) formula.add_clause(std::vector<int>{-v, v + 1});
  return formula;
}

TEST(CountFormula, CountsBeyondDoubles) {
  Formula formula{.num_variables = 1000};
  std::vector<int> all;
  for (int v = 1; v <= 1000; ++v) all.push_back(v);
  formula.add_clause(all);  // 2^1000 - 1
  const FormulaCount count = count_formula(formula);
  ASSERT_TRUE(count.is_solved);
  Integer expected(1);
  expected.shift(1000);
  expected += Integer(-1);
  EXPECT_EQ(count.numerator, expected.text());
  EXPECT_EQ(count_formula(chain(400)).numerator, "401");
}

TEST(CountFormula, WithoutClausesOrVariables) {
  EXPECT_EQ(text_of(count_formula({})), "1/1");
  EXPECT_EQ(text_of(count_formula({.num_variables = 70})), "1180591620717411303424/1");
  Formula empty{.num_variables = 3};
  empty.add_clause({});
  const FormulaCount none = count_formula(empty);
  EXPECT_EQ(text_of(none), "0/1");
  EXPECT_EQ(none.is_satisfiable, false);
}

TEST(CountFormula, WhatIsStoppedHasCertifiedBounds) {
  Random random(3, "stopped");
  int num_with_solution = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const Formula formula = testing::random_formula(random, {.most_variables = 14});
    const testing::EnumeratedFormula truth = testing::enumerate_formula(formula);
    std::int64_t asked = 0;
    const FormulaCount count = count_formula(formula, {}, {.has_reductions = false, .has_elimination = trial % 2 == 0},
                                             {.should_stop = [&] { return ++asked > trial % 4; }});
    const double log_count = std::log(static_cast<double>(truth.count)) - truth.num_shown * std::log(4.0);
    EXPECT_LE(count.log_count.lower, log_count + 1e-12) << format_formula(formula);
    EXPECT_GE(count.log_count.upper, log_count - 1e-12) << format_formula(formula);
    if (count.is_satisfiable == true && formula.weights.empty()) {
      EXPECT_GE(count.log_count.lower, -1e-12);
      ++num_with_solution;
    }
  }
  EXPECT_GT(num_with_solution, 0);
}

// Groups of variables with many clauses, some of which contradict each other, and few clauses between the groups: so
// that parts are counted beside parts that turn out to be impossible.
Formula loosely_linked(Random& random) {
  const auto below = [&](int n) { return static_cast<int>(random.below(static_cast<std::uint64_t>(n))); };
  const std::vector<int> sizes = {10, 10, 14, 20};
  Formula formula;
  const auto add = [&](int first, int size) {
    std::vector<int> clause;
    for (int i = 0; i < 3; ++i) clause.push_back((first + below(size)) * (below(2) == 0 ? 1 : -1));
    formula.add_clause(clause);
  };
  for (const int size : sizes) {
    for (int i = 0; i < size * 4; ++i) add(1 + formula.num_variables, size);
    formula.num_variables += size;
  }
  for (int i = 0; i < 12; ++i) add(1, formula.num_variables);
  if (below(2) == 0) formula.shown = {1, 2, 3, 11, 12, 13, 21, 22, 35, 36, 37, 38};
  return formula;
}

TEST(CountFormula, ThreadsThatShareWhatTheyCountAgree) {
  Random random(8, "threads");
  for (int trial = 0; trial < testing::num_trials(60); ++trial) {
    const Formula formula = parse_formula(format_formula(loosely_linked(random)), "linked.cnf");
    const FormulaOptions options{.has_reductions = trial % 2 == 0, .has_elimination = false, .decisions_alone = 0};
    const FormulaCount one = count_formula(formula, {.threads = 1}, options);
    const std::size_t bytes = trial % 3 == 0 ? std::size_t{3} << 20 : std::size_t{1} << 30;
    const FormulaCount four = count_formula(formula, {.bytes = bytes, .threads = 4}, options);
    ASSERT_TRUE(one.is_solved);
    if (four.is_solved) {
      ASSERT_EQ(text_of(four), text_of(one)) << format_formula(formula);
    }
    EXPECT_TRUE(four.is_solved || trial % 3 == 0);
    EXPECT_LE(four.log_count.lower, one.log_count.upper);
    EXPECT_GE(four.log_count.upper, one.log_count.lower);
  }
}

TEST(CountFormula, EliminationAndSearchAgree) {
  Random random(5, "elimination");
  int num_eliminated = 0;
  for (int trial = 0; trial < testing::num_trials(40); ++trial) {
    // A grid of variables with clauses between neighbours, and weights of many digits.
    const int width = 3 + trial % 4, height = 12;
    Formula formula{.num_variables = width * height};
    const auto literal = [&](int row, int column) {
      return (1 + row * width + column) * (random.below(2) == 0 ? 1 : -1);
    };
    for (int row = 0; row < height; ++row) {
      for (int column = 0; column < width; ++column) {
        if (column + 1 < width) formula.add_clause(std::vector<int>{literal(row, column), literal(row, column + 1)});
        if (row + 1 < height) formula.add_clause(std::vector<int>{literal(row, column), literal(row + 1, column)});
      }
    }
    if (trial % 3 > 0) {
      formula.weights.resize(2 * static_cast<std::size_t>(formula.num_variables));
      for (std::string& weight : formula.weights) {
        weight =
            std::string(trial % 3 == 2 && random.below(4) == 0 ? "-" : "") + std::to_string(random.below(1000)) + "/7";
      }
    }
    const FormulaCount eliminated = count_formula(formula, {.threads = 1 + trial % 2}, {.has_reductions = false});
    const FormulaCount searched = count_formula(formula, {}, {.has_reductions = false, .has_elimination = false});
    num_eliminated += eliminated.report.is_eliminated ? 1 : 0;
    ASSERT_EQ(text_of(eliminated), text_of(searched)) << format_formula(formula);
  }
  EXPECT_GT(num_eliminated, 0);
}

TEST(CountFormula, ZeroByWeightsIsNotImpossible) {
  const Formula formula = parse_formula("p cnf 2 1\nc p weight 1 0 0\nc p weight -1 1 0\n1 0\n", "a.cnf");
  const FormulaCount count = count_formula(formula);
  EXPECT_EQ(text_of(count), "0/1");
  EXPECT_EQ(count.is_satisfiable, true);
  const Formula cancels = parse_formula("p cnf 1 0\nc p weight 1 -1 0\nc p weight -1 1 0\n", "a.cnf");
  EXPECT_EQ(text_of(count_formula(cancels)), "0/1");
}

TEST(CountFormula, FindsWhatOthersDefine) {
  // A chain of exclusive ors: everything after the inputs is defined.
  Formula formula{.num_variables = 41};
  for (int v = 3; v <= 41; ++v) {
    for (const std::vector<int>& clause :
         {std::vector<int>{-v, v - 1, v - 2}, {-v, 1 - v, 2 - v}, {v, v - 1, 2 - v}, {v, 1 - v, v - 2}}) {
      formula.add_clause(clause);
    }
  }
  const FormulaCount count = count_formula(formula);
  EXPECT_EQ(text_of(count), "4/1");
  EXPECT_LE(count.report.num_variables, 2);
}

TEST(ExactInteger, WordsAndBack) {
  for (const char* digits : {"0", "1", "-1", "9223372036854775807", "-9223372036854775808", "18446744073709551616",
                             "-340282366920938463463374607431768211455", "123456789012345678901234567890"}) {
    std::vector<std::uint64_t> words(3);
    Integer(std::string(digits)).to_words(words);
    EXPECT_EQ(Integer::of_words(words).text(), digits);
  }
}

// Numbers that nobody could finish with are refused before, and what can be done takes about as long as it has digits.
TEST(CountFormula, WeightsOfManyDigitsKeepToTheLimits) {
  Formula formula{.num_variables = 2000};
  formula.weights.resize(4000);
  for (std::size_t i = 0; i < 4000; i += 2) formula.weights[i] = "0.5e-90000";
  testing::expect_error(ErrorCode::kResource, "too many to be counted with in this time (--time)",
                        [&] { count_formula(formula, {.seconds = 1.0}); });
  testing::expect_error(ErrorCode::kResource, "too many to be counted with in this memory (--memory)",
                        [&] { count_formula(formula, {.bytes = 1 << 20}); });
  for (std::size_t i = 0; i < 4000; i += 2) formula.weights[i] = "0.999999999999999999999";
  EXPECT_EQ(text_of(count_formula(formula, {.seconds = 60.0})), "1/1");  // each weight and its rest
}

TEST(ExactInteger, ProductsAreTheSameInAnyOrder) {
  IntegerProduct product;
  Integer one_by_one(1);
  EXPECT_TRUE(product.value().is_one());
  for (int i = 1; i <= 100; ++i) {
    product.multiply(Integer(-i));
    one_by_one *= Integer(-i);
    EXPECT_EQ(product.value().text(), one_by_one.text());
  }
}

TEST(ExactInteger, SmallAndLargeAgree) {
  Random random(9, "integers");
  for (int trial = 0; trial < 2000; ++trial) {
    const auto draw = [&] { return static_cast<std::int64_t>(random.below(~std::uint64_t{0})) >> random.below(63); };
    const std::int64_t a = draw(), b = draw();
    const __int128 sum = static_cast<__int128>(a) + b, product = static_cast<__int128>(a) * b;
    const auto text = [](__int128 value) {
      Integer high(static_cast<std::int64_t>(value >> 62)),
          low(static_cast<std::int64_t>(value & ((__int128{1} << 62) - 1)));
      high.shift(62);
      high += low;
      return high.text();
    };
    Integer x(a), y(a);
    x += Integer(b);
    y *= Integer(b);
    EXPECT_EQ(x.text(), text(sum));
    EXPECT_EQ(y.text(), text(product));
    EXPECT_EQ(Integer(y.text()).text(), y.text());
    y.divide_exactly(Integer(b == 0 ? 1 : b));
    if (b != 0) EXPECT_EQ(y.text(), std::to_string(a));
  }
}

}  // namespace
}  // namespace treesample
