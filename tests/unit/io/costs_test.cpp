// Models of costs: .wcsp and .wcnf.
#include <gtest/gtest.h>

#include <string>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

FactorGraph wcsp(const std::string& text) { return parse_model(text, ".wcsp", "a.wcsp"); }
FactorGraph wcnf(const std::string& text) { return parse_model(text, ".wcnf", "a.wcnf"); }

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
