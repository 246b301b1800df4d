// Compiled formulas: what is written is read, checked and counted.
#include "treesample/formula/nnf.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/formulas.hpp"
#include "treesample/count/count.hpp"
#include "treesample/formula/count_formula.hpp"

namespace treesample {
namespace {

TEST(Nnf, CircuitsCountAsTheirFormulas) {
  Random random(2, "nnf");
  int num_compiled = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Formula formula = testing::random_formula(random);
    formula.weights.clear();
    formula.shown.reset();
    const FactorGraph graph = formula_graph(formula);
    const CountResult result = count(graph, {}, {.keep_circuit = true});
    ASSERT_TRUE(result.is_solved);
    const std::string expected = count_formula(formula).numerator;
    if (!result.circuit) {
      EXPECT_EQ(expected, "0");
      continue;
    }
    ++num_compiled;
    const Nnf nnf = parse_nnf(format_nnf(*result.circuit), "written");
    EXPECT_EQ(nnf.num_variables, formula.num_variables);
    EXPECT_EQ(count_nnf(nnf), expected) << format_formula(formula);
  }
  EXPECT_GT(num_compiled, 50);
}

TEST(Nnf, OfOtherCompilersNeedNotBeSmooth) {
  // x1, or not x1 and x2; x3 is not mentioned.
  EXPECT_EQ(count_nnf(parse_nnf("nnf 5 4 3\nL 1\nL -1\nL 2\nA 2 1 2\nO 1 2 0 3\n", "a.nnf")), "6");
  EXPECT_EQ(count_nnf(parse_nnf("nnf 1 0 70\nA 0\n", "a.nnf")), "1180591620717411303424");
  EXPECT_EQ(count_nnf(parse_nnf("nnf 1 0 3\nO 0 0\n", "a.nnf")), "0");
}

TEST(Nnf, WhatIsNotDecomposableOrDeterministicIsRefused) {
  const auto refused = [](const std::string& text, const std::string& message) {
    testing::expect_error(ErrorCode::kParse, message, [&] { parse_nnf(text, "a.nnf"); });
  };
  refused("", "a.nnf:1: expected 'nnf', found the end of the file");
  refused("nnf 2 0 1\nL 1\n", "expected L, A or O, found the end of the file");
  refused("nnf 1 0 1\nL 2\n", "a.nnf:2: expected a literal from -1 to 1, found '2'");
  refused("nnf 1 0 1\nL 0\n", "a.nnf:2: expected a literal that is not 0");
  refused("nnf 2 1 1\nL 1\nA 1 1\n", "a.nnf:3: expected an earlier node from 0 to 0, found '1'");
  refused("nnf 3 2 1\nL 1\nL -1\nA 2 0 1\n", "a.nnf:4: expected a node that shares no variable with those before it");
  refused("nnf 3 2 2\nL 1\nL 2\nO 1 2 0 1\n", "a.nnf:4: expected two nodes, one with the literal 1 and one with -1");
  refused("nnf 3 2 2\nL 1\nL 2\nO 0 2 0 1\n", "the variable on which the nodes below an O disagree");
  refused("nnf 1 3 1\nL 1\n", "expected the 3 edges of the first line");
  refused("nnf 1 0 1\nL 1\nL 1\n", "expected nothing after the last node, found 'L'");
  testing::expect_error(ErrorCode::kResource, "too many to be checked",
                        [] { parse_nnf("nnf 9 0 1000000000\nL 1\n", "a.nnf"); });
  refused("nnf 2 9 1\nL 1\nO 1 9 0 0 0 0 0 0 0 0 0\n", "a.nnf:3: expected a number of nodes from 0 to 2, found '9'");
}

TEST(Nnf, KeepsToItsLimits) {
  const std::string many = "nnf 1 0 100000000\nA 0\n";
  testing::expect_error(ErrorCode::kResource, "too many to be checked",
                        [&] { parse_nnf(many, "a.nnf", {.bytes = 1 << 20}); });
  const Nnf nnf = parse_nnf(many, "a.nnf");
  testing::expect_error(ErrorCode::kResource, "no time left", [&] { count_nnf(nnf, {.seconds = 1.0}); });
}

}  // namespace
}  // namespace treesample
