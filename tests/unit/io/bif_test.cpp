#include "treesample/io/bif.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "support/expect_error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

using testing::message_of;

constexpr const char* kClinic = R"(// four variables, every way to write a distribution
network "a small clinic" { property "see http://example.org; it is free" ; property note = // 1 ; }
variable smoke { type discrete [ 2 ] { yes, no }; property position = (1, 2) ; }
variable "bronchitis" { type discrete[2] {"yes" "no"}; }
variable cancer { /* rare;
  two lines } */ type discrete [ 3 ] { none, early, late }; }
variable dyspnoea { type discrete [ 2 ] { yes, no }; }
probability ( smoke ) { table 0.5, 0.5; }
probability ( bronchitis smoke ) { table 0.6 0.3 0.4 0.7 ; }
probability ( cancer | smoke ) {
  (no) 0.99, 0.01, 0;
  (yes) 0.9, 0.08, 0.02;
}
probability ( dyspnoea | bronchitis, cancer ) {
  default 0.7, 0.3;
  (yes, early) 0.9, 0.1;
  (yes, late) 0.9, 0.1;
  (yes, none) 0.8, 0.2;
  (no, none) 1e-1, 9e-1;
}
)";

double probability_of(const FactorGraph& graph, int variable, int state) {
  double sum = 0.0;
  Assignment x(static_cast<std::size_t>(graph.num_variables()), 0);
  for (bool more = true; more;) {
    if (x[variable] == state) sum += std::exp(graph.log_density(x));
    more = false;
    for (int v = 0; v < graph.num_variables() && !more; ++v) {
      more = ++x[v] < graph.num_states(v);
      if (!more) x[v] = 0;
    }
  }
  return sum;
}

TEST(Bif, KeepsNamesAndScopes) {
  const FactorGraph graph = parse_bif(kClinic, "clinic.bif");
  ASSERT_EQ(graph.num_variables(), 4);
  EXPECT_EQ(graph.variable(1).name, "bronchitis");
  EXPECT_EQ(graph.variable(2).state_names, (std::vector<std::string>{"none", "early", "late"}));
  ASSERT_EQ(graph.num_factors(), 4);
  EXPECT_EQ(graph.factor(0).scope(), (std::vector<int>{0}));
  EXPECT_EQ(graph.factor(3).scope(), (std::vector<int>{1, 2, 3})) << "parents in the order of the file, the child last";
}

TEST(Bif, TablesHaveTheChildFastest) {
  const FactorGraph graph = parse_bif(kClinic, "clinic.bif");
  EXPECT_EQ(graph.factor(1).log_values(),
            (std::vector<double>{std::log(0.6), std::log(0.4), std::log(0.3), std::log(0.7)}));
  EXPECT_EQ(graph.factor(2).log_values(), (std::vector<double>{std::log(0.9), std::log(0.08), std::log(0.02),
                                                               std::log(0.99), std::log(0.01), kNegInf}));
}

// By hand: given smoke, (bronchitis, cancer or not) have .06 .54 .04 .36, so dyspnoea has
// .9 (.06) + .8 (.54) + .7 (.04) + .1 (.36) = .55; given no smoke .0027 + .2376 + .0049 + .0693 = .3145.
TEST(Bif, GivesTheProbabilitiesComputedByHand) {
  const FactorGraph graph = parse_bif(kClinic, "clinic.bif");
  EXPECT_NEAR(probability_of(graph, 3, 0), 0.5 * (0.55 + 0.3145), 1e-15);
  EXPECT_NEAR(probability_of(graph, 3, 1), 1.0 - 0.5 * (0.55 + 0.3145), 1e-15);
  EXPECT_NEAR(probability_of(graph, 1, 0), 0.45, 1e-15);
  EXPECT_NEAR(probability_of(graph, 2, 2), 0.01, 1e-15);
}

const std::string kTwo =
    "variable a { type discrete [ 2 ] { x, y }; }\nvariable b { type discrete [ 3 ] { x, y, z }; }\n"
    "probability ( a ) { table 1 1; }\n";

std::string bif_message(const std::string& text) {
  return message_of(ErrorCode::kParse, [&] { parse_bif(text, "m.bif"); });
}

TEST(Bif, AByteOrderMarkIsSkipped) {
  EXPECT_EQ(bif_message("\xEF\xBB\xBF\nnet"), "m.bif:2: expected 'network', 'variable' or 'probability', found 'net'");
  EXPECT_EQ(parse_bif("\xEF\xBB\xBFvariable a { type discrete [1] { y }; } probability (a) { table 1; }", "m.bif")
                .num_variables(),
            1);
  EXPECT_EQ(bif_message("\xFE\xFFn"), "m.bif:1: the file is UTF-16, allowed is UTF-8");
}

TEST(Bif, ANetworkHasVariables) {
  for (const char* const text : {"", "network x {}", "// nothing"}) {
    EXPECT_EQ(bif_message(text), "m.bif:1: expected 'variable': a network has at least one, found the end of the file");
  }
  EXPECT_EQ(bif_message("variable a { type discrete [2] { y, n }; }\nprobability (a) {}"),
            "m.bif:2: expected 'table', found '}'");
}

TEST(Bif, ErrorsOutsideAndInNetworkBlocks) {
  EXPECT_EQ(bif_message("net x {}"), "m.bif:1: expected 'network', 'variable' or 'probability', found 'net'");
  EXPECT_EQ(bif_message("\n}"), "m.bif:2: expected 'network', 'variable' or 'probability', found '}'");
  EXPECT_EQ(bif_message("network x ("), "m.bif:1: expected '{', found '('");
  EXPECT_EQ(bif_message("network x {\ntype"), "m.bif:2: expected 'property' or '}', found 'type'");
  EXPECT_EQ(bif_message("network x {\nproperty a"), "m.bif:2: the property is not closed, expected ';'");
  EXPECT_EQ(bif_message("network x {"), "m.bif:1: expected 'property' or '}', found the end of the file");
  EXPECT_EQ(bif_message("network\n\"x"), "m.bif:2: the quote is not closed, expected '\"'");
  EXPECT_EQ(bif_message("network x {}\n/* }\n"), "m.bif:2: the comment is not closed, expected '*/'");
}

TEST(Bif, ErrorsInVariableBlocks) {
  EXPECT_EQ(bif_message("variable {"), "m.bif:1: expected the name of a variable, found '{'");
  EXPECT_EQ(bif_message("variable a { }"), "m.bif:1: expected 'type', found '}'");
  EXPECT_EQ(bif_message("variable a { kind"), "m.bif:1: expected 'type' or 'property', found 'kind'");
  EXPECT_EQ(bif_message("variable a { type real"), "m.bif:1: expected 'discrete', found 'real'");
  const std::string states = "m.bif:1: expected a number of states from 1 to 1048576, found ";
  EXPECT_EQ(bif_message("variable a { type discrete [ two"), states + "'two'");
  EXPECT_EQ(bif_message("variable a { type discrete [ 0"), states + "'0'");
  EXPECT_EQ(bif_message("variable a { type discrete [ 2000000"), states + "'2000000'");
  EXPECT_EQ(bif_message("variable a { type discrete [ ]"), states + "']'");
  EXPECT_EQ(bif_message("variable a { type discrete [ 2 ]\n{ x };"), "m.bif:2: expected 2 names of states, found 1");
  EXPECT_EQ(bif_message("variable a { type discrete [ 2 ] { x\nx };"), "m.bif:2: state 'x' is named twice");
  EXPECT_EQ(bif_message("variable a { type discrete [ 1 ] { x ; }"),
            "m.bif:1: expected the name of a state or '}', found ';'");
  EXPECT_EQ(bif_message("variable a { type discrete [ 1 ] { x } }"), "m.bif:1: expected ';', found '}'");
  EXPECT_EQ(bif_message("variable a { type discrete [ 1 ] { x };\ntype"),
            "m.bif:2: expected 'property' or '}', found 'type'");
  EXPECT_EQ(bif_message(kTwo + "variable a {"), "m.bif:4: variable 'a' is declared twice");
}

TEST(Bif, ErrorsInTheHeadOfAProbabilityBlock) {
  EXPECT_EQ(bif_message(kTwo + "probability a"), "m.bif:4: expected '(', found 'a'");
  EXPECT_EQ(bif_message(kTwo + "probability ( c"),
            "m.bif:4: expected the name of a variable declared above, found 'c'");
  EXPECT_EQ(bif_message(kTwo + "probability ( b | c"),
            "m.bif:4: expected the name of a variable declared above, found 'c'");
  EXPECT_EQ(bif_message(kTwo + "probability ( b a | a"), "m.bif:4: expected the name of a parent or ')', found '|'");
  EXPECT_EQ(bif_message(kTwo + "probability ( b | a\na )"), "m.bif:5: variable 'a' is named twice");
  EXPECT_EQ(bif_message(kTwo + "probability ( b | b )"), "m.bif:4: variable 'b' is named twice");
  EXPECT_EQ(bif_message(kTwo + "probability ( a )"), "m.bif:4: variable 'a' has a probability block already");
  EXPECT_EQ(bif_message(kTwo), "m.bif:4: expected a probability block for variable 'b', found the end of the file");
}

TEST(Bif, ErrorsInTheBodyOfAProbabilityBlock) {
  const std::string head = kTwo + "probability ( b | a )\n{ ";
  EXPECT_EQ(bif_message(head + "0.1"), "m.bif:5: expected 'table', 'default', 'property', '(' or '}', found '0.1'");
  EXPECT_EQ(bif_message(head + "(z) 1"), "m.bif:5: expected a state of variable 'a', found 'z'");
  EXPECT_EQ(bif_message(head + "() 1"), "m.bif:5: expected a state of variable 'a', found ')'");
  EXPECT_EQ(bif_message(head + "(x, y) 1"), "m.bif:5: expected ')', found 'y'");
  EXPECT_EQ(bif_message(head + "(x) 1, 1; }"), "m.bif:5: expected 3 numbers before ';', found 2");
  EXPECT_EQ(bif_message(head + "(x) 1, 1, 1,\n 7; }"), "m.bif:6: expected ';' after 3 numbers, found '7'");
  EXPECT_EQ(bif_message(head + "table 1 1 1 1 1; }"), "m.bif:5: expected 6 numbers before ';', found 5");
  EXPECT_EQ(bif_message(head + "(x) 1, -1, 1;"), "m.bif:5: expected a finite number of at least 0, or ';', found '-1'");
  EXPECT_EQ(bif_message(head + "(x) 1, 1, 1 }"), "m.bif:5: expected a finite number of at least 0, or ';', found '}'");
  EXPECT_EQ(bif_message(head + "(x) 1 1 1;\n(x) 1 1 1; }"), "m.bif:6: this row is given twice");
  EXPECT_EQ(bif_message(head + "(x) 1 1 1;\ntable 1 1 1 1 1 1; }"),
            "m.bif:6: a table is given for a block that has a table or rows already");
  EXPECT_EQ(bif_message(head + "default 1 1 1;\ndefault 1 1 1; }"),
            "m.bif:6: expected 'property', '(' or '}', found 'default'");
  const char* const both = "m.bif:6: a block has both a table and a default, allowed is one of them";
  EXPECT_EQ(bif_message(head + "default 1 1 1;\ntable 1 1 1 1 1 1; }"), both);
  EXPECT_EQ(bif_message(head + "table 1 1 1 1 1 1;\ndefault 1 1 1; }"), both);
  EXPECT_EQ(bif_message(head + "(x) 1 1 1; }"),
            "m.bif:5: expected a row for '(y)' or a default before the end of the block");
}

// 23 binary parents make 2^24 entries from a few hundred bytes; 20 of them are within the limit.
TEST(Bif, TablesMadeFromADefaultAreLimited) {
  const auto text_with_parents = [](int num_parents) {
    std::string text;
    std::string parents;
    for (int i = 0; i < num_parents; ++i) {
      text +=
          fmt::format("variable v{0} {{ type discrete [ 2 ] {{ x, y }}; }} probability ( v{0} ) {{ table 1 1; }}\n", i);
      parents += fmt::format(" v{}", i);
    }
    return text +
           fmt::format("variable c {{ type discrete [ 2 ] {{ x, y }}; }}\nprobability ( c |{} ) {{ default 1 1; }}",
                       parents);
  };
  EXPECT_EQ(parse_bif(text_with_parents(20), "m.bif").factor(20).log_values().size(), std::size_t{1} << 21);
  EXPECT_NE(bif_message(text_with_parents(23)).find("m.bif:25: the table of variable 'c' has more than the"),
            std::string::npos);
  EXPECT_NE(bif_message(text_with_parents(80)).find("has more than the"), std::string::npos) << "2^81 overflows";
}

// Bytes that are not UTF-8 are Latin-1.
TEST(Bif, NamesInLatin1StayDifferent) {
  const FactorGraph graph = parse_bif(
      "network a {}\nvariable a\xe4 { type discrete [ 2 ] { \xe9, \xe8 }; }\n"
      "variable a\xf6 { type discrete [ 1 ] { x }; }\nprobability ( a\xe4 ) { table 0.5, 0.5; }\n"
      "probability ( a\xf6 | a\xe4 ) { ( \xe9 ) 1; ( \xe8 ) 1; }\n",
      "latin1.bif");
  EXPECT_EQ(graph.variable(0).name, "a\u00e4");
  EXPECT_EQ(graph.variable(1).name, "a\u00f6");
  EXPECT_EQ(graph.variable(0).state_names, (std::vector<std::string>{"\u00e9", "\u00e8"}));
}

class BifFile : public testing::TemporaryFolder {};

TEST_F(BifFile, IsReadFromItsPath) {
  write_file_atomically(in_folder("clinic.bif"), kClinic);
  EXPECT_EQ(read_model(in_folder("clinic.bif")).num_variables(), 4);
  write_file_atomically(in_folder("bad.bif"), "\nnet");
  EXPECT_EQ(message_of(ErrorCode::kParse, [&] { read_model(in_folder("bad.bif")); }),
            in_folder("bad.bif").string() + ":2: expected 'network', 'variable' or 'probability', found 'net'");
}

}  // namespace
}  // namespace treesample
