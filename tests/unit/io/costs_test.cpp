// Models of costs: .wcsp, .cfn and .wcnf.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

FactorGraph wcsp(const std::string& text) { return parse_model(text, ".wcsp", "a.wcsp"); }
FactorGraph wcnf(const std::string& text) { return parse_model(text, ".wcnf", "a.wcnf"); }

FactorGraph cfn(const std::string& text) { return parse_model(text, ".cfn", "a.cfn"); }

constexpr const char* kSmall = "small 3 3 3 100\n2 3 2\n2 0 1 0 2\n0 0 5\n1 2 100\n1 0 3 0\n0 7 0\n";

TEST(Wcsp, CostsAreLogValuesWithTheOtherSign) {
  const FactorGraph graph = wcsp(kSmall);
  ASSERT_EQ(graph.num_variables(), 3);
  EXPECT_EQ(graph.num_states(1), 3);
  EXPECT_EQ(graph.log_density(Assignment{0, 1, 0}), -10.0);
  EXPECT_EQ(graph.log_density(Assignment{0, 0, 1}), -15.0);
  EXPECT_EQ(graph.log_density(Assignment{1, 2, 0}), kNegInf);
}

TEST(Wcsp, IsReadBackUnchanged) {
  const FactorGraph graph = wcsp(kSmall);
  const FactorGraph again = wcsp(format_model(graph, "b.wcsp"));
  ASSERT_EQ(again.num_factors(), graph.num_factors());
  for (int m = 0; m < graph.num_factors(); ++m) {
    EXPECT_EQ(again.factor(m).scope(), graph.factor(m).scope());
    EXPECT_EQ(again.factor(m).log_values(), graph.factor(m).log_values());
  }
}

TEST(Wcsp, WhatItCannotSayIsRefused) {
  FactorGraph graph;
  graph.add_variable(2);
  graph.add_table({0}, {0.0, -0.5});
  testing::expect_error(ErrorCode::kArgument, "whole numbers from 0 to 1e15", [&] { format_model(graph, "b.wcsp"); });
  FactorGraph positive;
  positive.add_variable(2);
  positive.add_table({0}, {0.0, 2.0});
  testing::expect_error(ErrorCode::kArgument, "a log-value is 2", [&] { format_model(positive, "b.wcsp"); });
}

TEST(Wcsp, MistakesNameTheLine) {
  testing::expect_error(ErrorCode::kParse, "the name of a problem", [&] { wcsp(""); });
  testing::expect_error(ErrorCode::kParse, "a.wcsp:3: ", [&] { wcsp("s 1 2 1 10\n2\n1 0 -1 >= 3 1\n"); });
  testing::expect_error(ErrorCode::kParse, "shared", [&] { wcsp("s 1 2 1 10\n2\n-1 0 0 0\n"); });
  testing::expect_error(ErrorCode::kParse, "a variable from 0 to 0", [&] { wcsp("s 1 2 1 10\n2\n1 1 0 0\n"); });
  testing::expect_error(ErrorCode::kParse, "not in this function already",
                        [&] { wcsp("s 2 2 1 10\n2 2\n2 0 0 0 0\n"); });
  testing::expect_error(ErrorCode::kParse, "a state from 0 to 1", [&] { wcsp("s 1 2 1 10\n2\n1 0 0 1\n2 1\n"); });
  testing::expect_error(ErrorCode::kParse, "a number of states from 1 to 2", [&] { wcsp("s 1 2 0 10\n3\n"); });
  testing::expect_error(ErrorCode::kParse, "nothing after", [&] { wcsp("s 1 2 0 10\n2\n7"); });
}

constexpr const char* kNetwork =
    "{problem: {name: small, mustbe: \"<100.0\"},\n variables: {rain: [no, yes], lawn: 3},\n functions: {\n"
    "# a remark\n f: {scope: [rain, lawn], defaultcost: 0, costs: [no, 0, 2.5, yes, 2, 101.0]},\n"
    " g: {scope: [lawn], costs: [0.5, -1, 0]},\n h: {scope: [rain, lawn], costs: f}}}\n";

TEST(Cfn, CostsAreLogValuesWithTheOtherSign) {
  const FactorGraph graph = cfn(kNetwork);
  ASSERT_EQ(graph.num_variables(), 2);
  EXPECT_EQ(graph.variable(0).state_names, (std::vector<std::string>{"no", "yes"}));
  EXPECT_EQ(graph.variable(1).name, "lawn");
  EXPECT_EQ(graph.log_density(Assignment{0, 0}), -5.5);
  EXPECT_EQ(graph.log_density(Assignment{1, 1}), 1.0);
  EXPECT_EQ(graph.log_density(Assignment{1, 2}), kNegInf);
}

TEST(Cfn, QuotesCommasAndNamesMayBeMissing) {
  const FactorGraph graph =
      cfn("{{test.problem <12.100}\n[[a b c] 2 -3]\n[{[0 1] [4.2 3.67 -1 7.1 -3 15.2]} {[2] 0.5 [1 3]}]}");
  ASSERT_EQ(graph.num_variables(), 3);
  EXPECT_EQ(graph.num_states(2), 3);
  EXPECT_EQ(graph.log_density(Assignment{0, 1, 0}), -3.67 - 0.5);
  EXPECT_EQ(graph.log_density(Assignment{1, 0, 1}), 1.0 - 3.0);
  EXPECT_EQ(graph.log_density(Assignment{2, 1, 0}), kNegInf);
}

// Beside a cost of 3 nothing is below the bound of 3, unless another function can make up for it.
TEST(Cfn, TheBoundIsOneOnSums) {
  const FactorGraph graph = cfn("{{n <3}{a 2 b 2}{f{[a][3 4]} g{[b][0 -1]}}}");
  EXPECT_EQ(graph.factor(0).log_values(), (std::vector<double>{-3.0, kNegInf}));
}

TEST(Cfn, WhatIsMaximisedIsALogValue) {
  const FactorGraph graph = cfn("{{n >-5}{a 2 b 2}{f{[a b][1 -9 2.5 0]} g{[][1]}}}");
  EXPECT_EQ(graph.log_density(Assignment{1, 0}), 3.5);
  EXPECT_EQ(graph.log_density(Assignment{0, 1}), kNegInf);
}

TEST(Cfn, IsReadBackUpToTheLastDecimals) {
  Random random(1, "cfn");
  for (int i = 0; i < 200; ++i) {
    const FactorGraph graph = testing::random_model(random, {.num_variables = 1 + i % 6,
                                                             .num_factors = 1 + i % 9,
                                                             .min_arity = 0,
                                                             .max_arity = 4,
                                                             .zero_probability = i % 3 == 0 ? 0.4 : 0.0,
                                                             .scale = i % 2 == 0 ? 20.0 : 1e-3});
    const FactorGraph again = cfn(format_model(graph, "b.cfn"));
    ASSERT_EQ(again.num_factors(), graph.num_factors());
    for (int m = 0; m < graph.num_factors(); ++m) {
      EXPECT_EQ(again.factor(m).scope(), graph.factor(m).scope());
      for (std::size_t k = 0; k < graph.factor(m).log_values().size(); ++k) {
        const double before = graph.factor(m).log_values()[k], after = again.factor(m).log_values()[k];
        EXPECT_TRUE(before == after || std::abs(before - after) < 1e-13) << i;
      }
    }
  }
}

// What toulbar2 1.1.1 reads in this way, and has as its bound.
TEST(Cfn, AllNumbersHaveAtMostTheDecimalsOfTheBound) {
  FactorGraph graph;
  graph.add_variable(2);
  graph.add_table({0}, {-1.0 / 3.0, kNegInf});
  graph.add_table({0}, {0.0, 1e3});
  EXPECT_EQ(format_model(graph, "b.cfn"),
            "{\"problem\": {\"name\": \"model\", \"mustbe\": \"<2.0000000000000\"},\n\"variables\": {\n  \"x0\": 2},\n"
            "\"functions\": {\n  \"f0\": {\"scope\": [\"x0\"], \"costs\": [0.3333333333333, 1003.0]},\n"
            "  \"f1\": {\"scope\": [\"x0\"], \"costs\": [0.0, -1000.0]}}}\n");
}

TEST(Cfn, NamesThatItCannotHaveBecomeNumbers) {
  FactorGraph graph;
  graph.add_variable({.num_states = 2, .name = "a b", .state_names = {"1st", "2nd"}});
  graph.add_variable({.num_states = 2, .name = "c", .state_names = {"no", "yes"}});
  graph.add_table({0, 1}, {0.0, -0.5, 1.0, kNegInf});
  const FactorGraph again = cfn(format_model(graph, "b.cfn"));
  EXPECT_EQ(again.variable(0).name, "x0");
  EXPECT_TRUE(again.variable(0).state_names.empty());
  EXPECT_EQ(again.variable(1).state_names, (std::vector<std::string>{"no", "yes"}));
  graph.add_table({0}, {0.0, 1e16});
  testing::expect_error(ErrorCode::kArgument, "at most 1e+15", [&] { format_model(graph, "b.cfn"); });
}

TEST(Cfn, MistakesNameTheLine) {
  const auto refused = [](const std::string& said, const std::string& text) {
    testing::expect_error(ErrorCode::kParse, said, [&] { cfn(text); });
  };
  refused("the beginning of a problem", "");
  refused("a.cfn:2: expected a bound that begins with < or >", "{problem:\n{name: n, mustbe: 3}");
  refused("a number after < or >", "{{n <x}");
  refused("a closing quote", "{{\"n\n <3}");
  refused("variables of different names (two are called 'a')", "{{n <3}{a 2 a 2}{}}");
  refused("states of different names (two of 'a' are called 'b')", "{{n <3}{a [b b]}{}}");
  refused("a number of states other than 0", "{{n <3}{a 0}{}}");
  refused("the name of a variable, found 'c'", "{{n <3}{a 2}{f{[c][0 1]}}}");
  refused("a variable from 0 to 0", "{{n <3}{a 2}{f{[1][0 1]}}}");
  refused("not in this function already", "{{n <3}{a 2}{f{[a a][0 1 2 3]}}}");
  refused("a state of 'a', found 'z'", "{{n <3}{a 2}{f{[a] 0 [z 1]}}}");
  refused("a state from 0 to 1", "{{n <3}{a 2}{f{[a] 0 [2 1]}}}");
  refused("expected 2 costs", "{{n <3}{a 2}{f{[a][0]}}}");
  refused("expected 2 costs", "{{n <3}{a 2}{f{[a][0 1 2]}}}");
  refused("constraints that are given by a name", "{{n <3}{a 2}{f{scope:[a] type:salldiff params:[]}}}");
  refused("a function that has costs of its own", "{{n <3}{a 2}{f{[a] f}}}");
  refused("whose variables have as many states", "{{n <3}{a 2 b 3}{f{[a] g} g{[b][0 1 2]}}}");
  refused("a name that no other function has", "{{n <3}{a 2}{f{[a][0 1]}f{[a][0 1]}}}");
  refused("nothing after the problem", "{{n <3}{a 2}{}} 7");
  refused("entries that are left", "{{n <3}[1000 1000 1000 1000]{f{[0 1 2 3] 0 []}}}");
}

TEST(Wcnf, BrokenClausesCostTheirWeight) {
  const FactorGraph graph = wcnf("c comment\np wcnf 4 4 100\n100 1 -2 0\n7 2 3 0\n2 -1 -1 0\n5 3 -3 0\n");
  ASSERT_EQ(graph.num_variables(), 4);
  EXPECT_EQ(graph.variable(0).name, "x1");
  EXPECT_EQ(graph.log_density(Assignment{0, 1, 0, 0}), kNegInf);
  EXPECT_EQ(graph.log_density(Assignment{0, 0, 0, 1}), -7.0);
  EXPECT_EQ(graph.log_density(Assignment{1, 0, 0, 1}), -9.0);
  EXPECT_EQ(graph.log_density(Assignment{0, 0, 1, 1}), 0.0);
}

TEST(Wcnf, TheNewerFormHasNoCounts) {
  const FactorGraph graph = wcnf("c first\nh 1 -2 0\n7 2 3 0\n2 -1 0\n");
  ASSERT_EQ(graph.num_variables(), 3);
  EXPECT_EQ(graph.log_density(Assignment{0, 1, 0}), kNegInf);
  EXPECT_EQ(graph.log_density(Assignment{1, 0, 0}), -9.0);
}

TEST(Wcnf, MistakesNameTheLine) {
  testing::expect_error(ErrorCode::kParse, "a.wcnf:1: expected wcnf", [&] { wcnf("p cnf 3 2\n"); });
  testing::expect_error(ErrorCode::kParse, "a.wcnf:2: ", [&] { wcnf("p wcnf 2 1\n3 1 3 0\n"); });
  testing::expect_error(ErrorCode::kParse, "0 at the end of a clause", [&] { wcnf("3 1 2\n"); });
  testing::expect_error(ErrorCode::kParse, "at least 0", [&] { wcnf("-3 1 2 0\n"); });
  testing::expect_error(ErrorCode::kParse, "the weight of a clause", [&] { wcnf("x 1 2 0\n"); });
  std::string many = "1";
  for (int v = 1; v <= 21; ++v) many += " " + std::to_string(v);
  testing::expect_error(ErrorCode::kParse, "at most 20 variables", [&] { wcnf(many + " 0\n"); });
}

}  // namespace
}  // namespace treesample
