#include "treesample/model/only_if.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "treesample/blackbox/black_box.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/io/json_model.hpp"

namespace treesample {
namespace {

// A solver of two kinds; the second one has a restart length; one of those has a third setting.
FactorGraph solver() {
  FactorGraph graph;
  for (const int states : {2, 4, 3}) graph.add_variable(states);
  add_only_if(graph, 1, 0, std::vector<int>{1});
  add_only_if(graph, 2, 1, std::vector<int>{2, 3});
  return graph;
}

TEST(OnlyIf, WhatDoesNotMatterIsThereOnce) {
  // 1 without a restart, 2 restarts without a setting, 2 with three settings each.
  EXPECT_NEAR(enumerate(solver()).log_z, std::log(1.0 + 2.0 + 2.0 * 3.0), 1e-12);
}

TEST(OnlyIf, ABlackBoxAsksOnceForWhatDiffersInNothingThatMatters) {
  FactorGraph graph = solver();
  graph.add_factor(Factor::function(
      {0, 1, 2}, [](std::span<const int>) -> double { throw std::logic_error("it must not be called"); }));
  BlackBox box(graph, {.looks_for_noise = false});
  double sum = 0.0;
  int num_asked = 0;
  for (std::vector<Assignment> asked = box.ask(4); !asked.empty(); asked = box.ask(4)) {
    for (const Assignment& x : asked) {
      const double value = 0.5 * x[0] - 0.1 * x[1] * x[2] + 0.3 * x[2];
      box.tell_function(2, x, value);
      box.tell_done(x);
      sum += std::exp(value);
      ++num_asked;
    }
  }
  EXPECT_EQ(num_asked, 9);
  const BlackBoxAnswer answer = box.answer();
  EXPECT_TRUE(answer.is_exact);
  EXPECT_NEAR(answer.log_z, std::log(sum), 1e-12);
}

TEST(OnlyIf, WhatIsWrongIsNamed) {
  FactorGraph graph = solver();
  EXPECT_THROW(add_only_if(graph, 1, 0, std::vector<int>{2}), Error);
  EXPECT_THROW(add_only_if(graph, 1, 0, std::vector<int>{}), Error);
  EXPECT_THROW(add_only_if(graph, 3, 0, std::vector<int>{0}), Error);
  EXPECT_THROW(add_only_if(graph, 1, 1, std::vector<int>{0}), Error);
}

std::string with_conditions(const std::string& conditions) {
  return R"({"variables": [{"name": "solver", "states": ["direct", "gmres"]},
                           {"name": "restart", "states": [10, 20, 40], "ordered": true, "only_if": )" +
         conditions + R"(}], "factors": []})";
}

TEST(OnlyIf, JsonModelsSayIt) {
  const JsonModel model = parse_json_model(with_conditions(R"({"solver": ["gmres"]})"), "m.json");
  ASSERT_EQ(model.factors.size(), 1U);
  EXPECT_EQ(model.factors[0].scope, (std::vector<int>{0, 1}));
  const double inf = HUGE_VAL;
  EXPECT_EQ(model.factors[0].log_values, (std::vector<double>{0, -inf, -inf, 0, 0, 0}));
}

TEST(OnlyIf, JsonModelsThatSayItWronglyAreRefusedWithThePlace) {
  for (const auto& [conditions, expected] : std::vector<std::pair<std::string, std::string>>{
           {R"({"solver": ["cg"]})", "variables[1].only_if.solver[0]: the variable 'solver' has no state 'cg'"},
           {R"({"solver": []})", "variables[1].only_if.solver: the list is empty"},
           {R"({"speed": ["a"]})", "variables[1].only_if.speed: unknown variable 'speed'"},
           {R"({"restart": [10]})", "variables[1].only_if.restart: a variable cannot depend on itself"},
           {R"(["solver"])", "variables[1].only_if: allowed is an object"}}) {
    try {
      parse_json_model(with_conditions(conditions), "m.json");
      FAIL() << conditions;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace treesample
