#include "treesample/model/names.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"

namespace treesample {
namespace {

using testing::expect_error;
using testing::message_of;

FactorGraph clinic() {
  FactorGraph graph;
  graph.add_variable({.num_states = 2, .name = "Visit to Asia", .state_names = {"yes", "no"}});
  graph.add_variable({.num_states = 3, .name = "T\xC3\xBCr", .state_names = {"auf", "zu", "a, \"b\""}});
  graph.add_variable(4);
  graph.add_variable(
      {.num_states = 2, .name = "x2", .state_names = {}});  // the name of a variable goes before a number
  return graph;
}

TEST(Names, FindVariablesAndStates) {
  const FactorGraph graph = clinic();
  const Names names(graph);
  EXPECT_EQ(names.variable("Visit to Asia"), 0);
  EXPECT_EQ(names.variable("T\xC3\xBCr"), 1);
  EXPECT_EQ(names.variable("x2"), 3);
  EXPECT_EQ(names.find_variable("x3"), -1);  // it is called x2
  EXPECT_EQ(names.state(1, "a, \"b\""), 2);
  EXPECT_EQ(names.state(2, "3"), 3);
  for (const char* wrong : {"4", "03", "+1", "-1", "", "1 "}) EXPECT_EQ(names.find_state(2, wrong), -1) << wrong;
  for (const char* wrong : {"", "x", "x02", "x-1", "x4", "visit"}) EXPECT_EQ(names.find_variable(wrong), -1) << wrong;
}

TEST(Names, SayWhatWasProbablyMeant) {
  const FactorGraph graph = clinic();
  const Names names(graph);
  EXPECT_EQ(message_of(ErrorCode::kArgument, [&] { names.variable("visit to asia"); }),
            "there is no variable 'visit to asia'; did you mean Visit to Asia?");
  EXPECT_EQ(message_of(ErrorCode::kArgument, [&] { names.state(0, "NO"); }),
            "variable 'Visit to Asia' has no state 'NO', allowed are yes, no; did you mean no?");
  EXPECT_EQ(message_of(ErrorCode::kArgument, [&] { names.variable("banana"); }), "there is no variable 'banana'");
  FactorGraph unnamed = testing::variables({2, 2});
  EXPECT_EQ(message_of(ErrorCode::kArgument, [&] { Names(unnamed).variable("a"); }),
            "there is no variable 'a': the model has no names, and its variables are called x0 to x1");
}

TEST(Names, ANameThatTwoVariablesShareIsRefused) {
  FactorGraph graph;
  graph.add_variable({.num_states = 2, .name = "a"});
  graph.add_variable({.num_states = 2, .name = "a"});
  expect_error(ErrorCode::kArgument, [&] { Names(graph).variable("a"); });
}

TEST(Names, ListsWithQuotes) {
  using List = std::vector<std::string>;
  EXPECT_EQ(split_names("lung, tub "), (List{"lung", "tub"}));
  EXPECT_EQ(split_names("Visit to Asia"), (List{"Visit to Asia"}));
  EXPECT_EQ(split_names(R"( "a, ""b""" ,c)"), (List{"a, \"b\"", "c"}));
  for (const char* wrong : {"", "a,", ",a", "a,,b", "\"a", "\"a\"b", "\"\""}) {
    EXPECT_THROW(split_names(wrong), Error) << wrong;
  }
  for (const List& list : {List{"a"}, List{" a ", "b,c", "\"", "d\"e\""}, List{"\xC3\xA9", "x\ny"}}) {
    EXPECT_EQ(split_names(joined_names(list)), list);
  }
}

}  // namespace
}  // namespace treesample
