#include "treesample/io/dimacs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "support/expect_error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/names.hpp"

namespace treesample {
namespace {

constexpr const char* kFormula = R"(c a comment
c t pwmc
c p show 1 3 0
p cnf 4 3
c p weight 1 0.4 0
c p weight -1 0.6 0
c p weight 3 1/3 0
1 -2
 0 2 3 -2 0
-4 3
1 0
)";

TEST(Dimacs, ReadsClausesWeightsAndShownVariables) {
  const Formula formula = parse_formula(kFormula, "a.cnf");
  EXPECT_EQ(formula.num_variables, 4);
  EXPECT_EQ(formula.kind, "pwmc");
  ASSERT_EQ(formula.num_clauses(), 2);  // the second one holds always
  EXPECT_EQ(std::vector<int>(formula.clause(1).begin(), formula.clause(1).end()), (std::vector<int>{-4, 3, 1}));
  EXPECT_EQ(formula.shown, (std::vector<int>{1, 3}));
  EXPECT_EQ(formula.weights[Formula::literal_index(3)], "1/3");
  EXPECT_EQ(formula.weights[Formula::literal_index(-3)], "");
}

TEST(Dimacs, BecomesAGraphWithTheSameWeights) {
  const FactorGraph graph = parse_dimacs(kFormula, "a.cnf");
  EXPECT_EQ(variable_name(graph, 0), "x1");
  EXPECT_EQ(graph.num_factors(), 4);
  EXPECT_TRUE(graph.factor(0).is_clause());
  // x1 = 0, x2 = 0, x3 = 1, x4 = 0.
  EXPECT_NEAR(graph.log_density(std::vector<int>{0, 0, 1, 0}), std::log(0.6 / 3.0), 1e-12);
  EXPECT_NEAR(graph.log_density(std::vector<int>{0, 0, 0, 0}), std::log(0.6 * 2.0 / 3.0), 1e-12);
  EXPECT_EQ(graph.log_density(std::vector<int>{0, 1, 1, 0}), kNegInf);
}

TEST(Dimacs, WhatIsWrittenReadsBack) {
  const Formula formula = parse_formula(kFormula, "a.cnf");
  const std::string text = format_formula(formula);
  EXPECT_EQ(format_formula(parse_formula(text, "written")), text);
  const FactorGraph graph = formula_graph(formula);
  const FactorGraph again = parse_dimacs(format_dimacs(graph), "written");
  EXPECT_NEAR(enumerate(graph).log_z, enumerate(again).log_z, 1e-12);
}

TEST(Dimacs, GoesToOtherFormatsAndBack) {
  const FactorGraph graph = parse_dimacs(kFormula, "a.cnf");
  for (const char* const name : {"a.uai", "a.json", "a.fg", "a.cnf"}) {
    const FactorGraph other = parse_model(format_model(graph, name), std::filesystem::path(name).extension(), name);
    const FactorGraph back = parse_dimacs(format_dimacs(other), "back");
    EXPECT_NEAR(enumerate(graph).log_z, enumerate(back).log_z, 1e-12) << name;
  }
}

TEST(Dimacs, ZerosOfTablesBecomeClauses) {
  FactorGraph graph;
  for (int v = 0; v < 2; ++v) graph.add_variable(2);
  graph.add_table({0, 1}, {0.0, kNegInf, kNegInf, 0.0});
  EXPECT_EQ(format_dimacs(graph), "c t mc\np cnf 2 2\n1 -2 0\n-1 2 0\n");
  graph.add_table({0, 1}, {0.5, 0.0, 0.0, 0.0});
  testing::expect_error(ErrorCode::kArgument, "factor 1 has the entry 1.64872", [&] { format_dimacs(graph); });
  graph = {};
  graph.add_variable(3);
  testing::expect_error(ErrorCode::kArgument, "has 3 states", [&] { format_dimacs(graph); });
}

TEST(Dimacs, IsRecognisedByItsText) {
  EXPECT_EQ(extension_of_text(kFormula), ".cnf");
  EXPECT_EQ(extension_of_text("p cnf 1 0\n"), ".cnf");
  EXPECT_EQ(extension_of_text("\nc p weight 1 1 0\np cnf 1 0\n"), ".cnf");
}

TEST(Dimacs, BadInputIsNamedWithItsLine) {
  const auto refused = [](const std::string& text, const std::string& message) {
    testing::expect_error(ErrorCode::kParse, "a.cnf:" + message, [&] { parse_formula(text, "a.cnf"); });
  };
  refused("", "1: there is no line 'p cnf VARIABLES CLAUSES'");
  refused("1 2 0\n", "1: expected the line 'p cnf VARIABLES CLAUSES', found '1'");
  refused("p cnf 2\n1 0\n", "1: expected a number of clauses from 0 to 2147483647, found the end of the line");
  refused("p cnf -1 1\n", "1: expected a number of variables from 0 to 1048576, found '-1'");
  refused("p cnf 2000000000 1\n", "1: expected a number of variables");
  refused("p dnf 2 1\n", "1: expected 'cnf' after 'p', found 'dnf'");
  refused("p cnf 2 1 3\n", "1: expected the end of the line, found '3'");
  refused("p cnf 2 1\np cnf 2 1\n", "2: a second line 'p cnf'");
  refused("p cnf 2 2\n1 2 0\n", "3: the file ends after 1 of the 2 clauses of the line 'p cnf'");
  refused("p cnf 2 1\n1 2 0\n-1 0\n", "3: a clause after the 1 of the line 'p cnf'");
  refused("p cnf 2 1\n1 0\n0\n", "3: a clause after the 1 of the line 'p cnf'");
  refused("p cnf 2 2\n1 2 0\n-1\n2\n", "3: a clause that does not end with 0");
  refused("p cnf 2 1\n1 3 0\n", "2: expected a literal from -2 to 2, found '3'");
  refused("p cnf 2 1\n1 x 0\n", "2: expected a literal from -2 to 2, found 'x'");
  refused("p cnf 2 1\n1 99999999999999999999 0\n", "2: expected a literal");
  refused("p cnf 2 1\n1 2\nc comment\n0\n", "3: a comment within a clause");
  refused("c p weight 3 0.5 0\np cnf 2 1\n1 0\n", "1: there is no variable 3: the line 'p cnf' has 2");
  refused("p cnf 2 1\nc p weight 0 0.5 0\n1 0\n", "2: expected a literal that is not 0, found '0'");
  refused("p cnf 2 1\nc p weight 1 nan 0\n1 0\n", "2: expected a decimal number or a fraction, found 'nan'");
  refused("p cnf 2 1\nc p weight 1 1/0 0\n1 0\n", "2: expected a decimal number or a fraction, found '1/0'");
  refused("p cnf 2 1\nc p weight 1 0.5 7\n1 0\n", "2: expected 0, the end of the weight, found '7'");
  refused("p cnf 2 1\nc p weight 1 2 0\n1 0\n", "2: the literal 1 has the weight 2, which is no probability");
  refused("p cnf 2 1\nc p weight 1 .5 0\nc p weight 1 .6 0\n1 0\n", "3: the literal 1 has two weights, .5 and .6");
  refused("p cnf 2 1\nc p show 1 3 0\n1 0\n", "2: there is no variable 3");
  refused("p cnf 2 1\nc p show 1 2\n1 0\n", "2: a list of variables that does not end with 0");
  refused("p cnf 2 1\nc p show 1 -2 0\n1 0\n", "2: expected a variable from 1 to");
  refused("c t xmc\np cnf 2 1\n1 0\n", "1: expected mc, wmc, pmc or pwmc after 'c t', found 'xmc'");
}

TEST(Dimacs, NegativeWeightsHaveNoLogarithm) {
  const Formula formula = parse_formula("p cnf 1 0\nc p weight 1 -0.5 0\nc p weight -1 1 0\n", "a.cnf");
  EXPECT_EQ(formula.weights[0], "-0.5");
  testing::expect_error(ErrorCode::kArgument, "variable 1 has the negative weight -0.5",
                        [&] { formula_graph(formula); });
}

TEST(Dimacs, OddButLegal) {
  EXPECT_EQ(parse_formula("\xEF\xBB\xBFp cnf 0 0", "a.cnf").num_variables, 0);
  EXPECT_EQ(parse_formula("p cnf 2 1\r\n1 2 0\r\n", "a.cnf").num_clauses(), 1);
  EXPECT_EQ(parse_formula("p cnf 2 1\n1 2 0\n%\n0\n", "a.cnf").num_clauses(), 1);
  EXPECT_EQ(parse_formula("p cnf 2 1\n1 1 2 0\n", "a.cnf").clause(0).size(), 2U);
  EXPECT_EQ(parse_formula("p cnf 2 1\n0\n", "a.cnf").clause(0).size(), 0U);
  EXPECT_EQ(parse_formula("c ind 1 0\np cnf 2 0\n", "a.cnf").shown, std::vector<int>{1});
}

}  // namespace
}  // namespace treesample
