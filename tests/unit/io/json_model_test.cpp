#include "treesample/io/json_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/io/file.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

using testing::message_of;

constexpr const char* kModel = R"({
  "description": "a pump under load",
  "variables": [{"name": "pump", "states": ["ok", "failed"]}, {"name": "load", "states": 3}],
  "programs": {"simulator": {"command": ["python3", "simulator.py"], "files": ["data.csv"], "timeout_seconds": 0.5,
                             "start_timeout_seconds": 7, "max_retries": 0, "max_batch": 16},
               "other": {"command": ["./other"]}},
  "factors": [{"scope": ["pump"], "values": [0.25, 0]},
              {"name": "table", "scope": ["load", "pump"], "log_values": [0, -1.5, "-inf", 0.1, 1e3, 2]},
              {"name": "likelihood", "scope": ["load", "pump"], "program": "simulator", "log_max": -1, "cost": 0.02},
              {"name": "second", "scope": ["load"], "program": "other"}]
})";

TEST(JsonModel, EveryFieldIsRead) {
  const JsonModel model = parse_json_model(kModel, "m.json");
  EXPECT_EQ(model.source_name, "m.json");
  ASSERT_EQ(model.variables.size(), 2U);
  EXPECT_EQ(model.variables[0].state_names, (std::vector<std::string>{"ok", "failed"}));
  EXPECT_EQ(model.variables[0].num_states, 2);
  EXPECT_EQ(model.variables[1].num_states, 3);
  EXPECT_EQ(model.variables[1].name, "load");
  ASSERT_EQ(model.programs.size(), 2U);
  ASSERT_EQ(model.factors.size(), 4U);
  EXPECT_EQ(model.factors[0].log_values, (std::vector<double>{std::log(0.25), kNegInf}));
  EXPECT_EQ(model.factors[1].log_values, (std::vector<double>{0, -1.5, kNegInf, 0.1, 1e3, 2}));
  EXPECT_EQ(model.factors[1].scope, (std::vector<int>{1, 0}));
  const FactorDescription& likelihood = model.factors[2];
  EXPECT_EQ(likelihood.name, "likelihood");
  EXPECT_EQ(likelihood.log_max, -1.0);
  EXPECT_EQ(likelihood.cost, 0.02);
  const ProgramDescription& simulator = model.programs[likelihood.program];
  EXPECT_EQ(simulator.command, (std::vector<std::string>{"python3", "simulator.py"}));
  EXPECT_EQ(simulator.files, (std::vector<std::string>{"data.csv"}));
  EXPECT_EQ(simulator.timeout_seconds, 0.5);
  EXPECT_EQ(simulator.start_timeout_seconds, 7.0);
  EXPECT_EQ(simulator.max_retries, 0);
  EXPECT_EQ(simulator.max_batch, 16);
  const ProgramDescription& other = model.programs[model.factors[3].program];
  EXPECT_EQ(other.name, "other");
  EXPECT_EQ(other.max_batch, 1);
  EXPECT_FALSE(model.factors[3].cost.has_value());
}

std::string with_variable(const std::string& fields) {
  return R"({"variables": [{"name": "rate", )" + fields + R"(}], "factors": []})";
}

TEST(JsonModel, OrderedStatesHaveLevels) {
  const auto variable = [](const std::string& fields) {
    return parse_json_model(with_variable(fields), "m").variables[0];
  };
  EXPECT_EQ(variable(R"("states": 3, "ordered": true)").levels, (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(variable(R"("states": ["low", "high"], "ordered": true)").levels, (std::vector<double>{0, 1}));
  EXPECT_EQ(variable(R"("states": ["0.1", "1e-3"], "ordered": true)").levels, (std::vector<double>{0.1, 1e-3}));
  const Variable numbers = variable(R"("states": [0.001, 0.1, 10], "ordered": true)");
  EXPECT_EQ(numbers.levels, (std::vector<double>{0.001, 0.1, 10}));
  EXPECT_EQ(numbers.state_names, (std::vector<std::string>{"0.001", "0.1", "10"}));
  EXPECT_EQ(variable(R"("states": ["a", "b"], "levels": [2.5, -1])").levels, (std::vector<double>{2.5, -1}));
  EXPECT_TRUE(variable(R"("states": 3, "ordered": false)").levels.empty());
  EXPECT_TRUE(variable(R"("states": ["1", "2"])").levels.empty());
}

TEST(JsonModel, LevelsAreWrittenBack) {
  for (const char* const fields :
       {R"("states": [0.001, 0.1, 10], "ordered": true)", R"("states": 2, "levels": [0.1, 1e300])",
        R"("states": ["a", "b"], "ordered": true)"}) {
    const JsonModel model = parse_json_model(with_variable(fields), "m");
    const JsonModel again = parse_json_model(format_json_model(model), "m");
    EXPECT_EQ(again.variables[0].levels, model.variables[0].levels);
    EXPECT_EQ(again.variables[0].state_names, model.variables[0].state_names);
    EXPECT_EQ(table_model(model).variable(0).levels, model.variables[0].levels);
  }
}

TEST(JsonModel, WrongLevelsAreNamed) {
  const auto refusal = [](const std::string& fields) {
    return message_of(ErrorCode::kParse, [&] { parse_json_model(with_variable(fields), "m"); });
  };
  EXPECT_EQ(refusal(R"("states": 3, "levels": [1, 2])"),
            "m: variables[0].levels: the variable has 2 levels for 3 states");
  EXPECT_EQ(refusal(R"("states": 2, "levels": [1, 1])"),
            "m: variables[0].levels: the variable has the level 1 twice, allowed are different numbers");
  EXPECT_EQ(refusal(R"("states": ["1.0", "1"], "ordered": true)"),
            "m: variables[0].states: the variable has the level 1 twice, allowed are different numbers");
  EXPECT_EQ(refusal(R"("states": 2, "levels": [])"),
            "m: variables[0].levels: the list is empty, it has a number for each state");
  EXPECT_EQ(refusal(R"("states": 2, "ordered": 1)"), "m: variables[0].ordered: allowed are true and false, found 1");
  EXPECT_EQ(refusal(R"("states": 2, "ordered": true, "levels": [1, 2])"),
            "m: variables[0].ordered: \"levels\" order the states already: one of the two fields is enough");
  EXPECT_NE(refusal(R"("states": [1, 2])").find("m: variables[0].states[0]: allowed is"), std::string::npos);
}

// Doubles have few digits below 2.2e-308 and none below 5e-324; such a number in a table would be another one.
TEST(JsonModel, ValuesThatDoublesDoNotHoldAreRefused) {
  const auto text = [](const std::string& field, const std::string& number) {
    return "{\"description\": [1e-400], \"variables\": [{\"name\": \"a\", \"states\": 2}], \"factors\": [{\"scope\": "
           "[\"a\"], \"" +
           field + "\": [0.0, " + number + "]}]}";
  };
  for (const std::string& number :
       std::vector<std::string>{"1e-400", "3.7e-320", "2e-308", "0." + std::string(400, '0') + "1", "-1e-400"}) {
    EXPECT_EQ(message_of(ErrorCode::kParse, [&] { parse_json_model(text("values", number), "m.json"); }),
              "m.json: the number " + shortened(number, 40) +
                  " in a list of values is too small for a double, allowed "
                  "are 0 and numbers from 2.23e-308 up; write the list as log_values");
    EXPECT_NO_THROW(parse_json_model(text("log_values", number), "m.json"));
  }
  for (const std::string& number :
       std::vector<std::string>{"0", "0.0", "0e-400", "0.00E+5", "2.3e-308", "1e300", "-0.0"}) {
    EXPECT_NO_THROW(parse_json_model(text("values", number), "m.json")) << number;
  }
}

TEST(JsonModel, ADescriptionSurvivesTheRoundTripToTheBit) {
  const JsonModel model = parse_json_model(kModel, "m.json");
  const std::string text = format_json_model(model);
  const JsonModel again = parse_json_model(text, "m.json");
  EXPECT_EQ(format_json_model(again), text);
  EXPECT_EQ(again.factors[0].log_values, model.factors[0].log_values);
  EXPECT_EQ(again.factors[1].log_values, model.factors[1].log_values);
  EXPECT_EQ(again.factors[2].log_max, model.factors[2].log_max);
  EXPECT_EQ(again.factors[2].cost, model.factors[2].cost);
  EXPECT_EQ(again.programs[1].files, model.programs[1].files);
  EXPECT_EQ(again.programs[1].timeout_seconds, model.programs[1].timeout_seconds);
  EXPECT_EQ(again.variables[0].state_names, model.variables[0].state_names);
}

TEST(JsonModel, AModelOfTablesSurvivesTheRoundTripToTheBit) {
  FactorGraph graph = testing::variables({2});
  graph.add_variable({.num_states = 3, .name = "load", .state_names = {"low", "mid", "high"}});
  const std::vector<double> values = {0.1, kNegInf, -1e300, 5e-324, std::nextafter(1.0, 2.0), 1.7e7};
  graph.add_table({1, 0}, values);
  graph.add_table({}, {-0.5});
  const std::string text = format_json_model(describe_tables(graph, "g.json"));
  const FactorGraph again = table_model(parse_json_model(text, "g.json"));
  ASSERT_EQ(again.num_factors(), 2);
  EXPECT_EQ(again.factor(0).log_values(), values);
  EXPECT_EQ(again.factor(0).scope(), (std::vector<int>{1, 0}));
  EXPECT_EQ(again.factor(1).log_values(), (std::vector<double>{-0.5}));
  EXPECT_EQ(again.variable(0).name, "x0");
  EXPECT_EQ(again.variable(1).state_names[2], "high");
}

TEST(JsonModel, OnlyTablesCanBeDescribedFromAGraphOrReadAsOne) {
  FactorGraph graph = testing::variables({2});
  graph.add_factor(Factor::function({0}, [](std::span<const int>) { return 0.0; }));
  EXPECT_EQ(message_of(ErrorCode::kArgument, [&] { describe_tables(graph, "g"); }),
            "describe_tables: factor 0 is a function");
  EXPECT_EQ(message_of(ErrorCode::kArgument, [&] { table_model(parse_json_model(kModel, "m.json")); }),
            "m.json: the factor 'likelihood' is computed by the program 'simulator', allowed here are only tables");
}

class JsonModelFile : public testing::TemporaryFolder {};

TEST_F(JsonModelFile, ProgramsRunInTheFolderOfTheFile) {
  write_file_atomically(in_folder("m.json"), kModel);
  EXPECT_EQ(read_json_model(in_folder("m.json")).folder, in_folder("m.json").parent_path());
  EXPECT_EQ(read_json_model(in_folder("m.json")).source_name, in_folder("m.json").string());
}

struct BadText {
  const char* text;
  const char* message;
};

class BadJsonModel : public ::testing::TestWithParam<BadText> {};

TEST_P(BadJsonModel, IsRefusedWithThePathInTheFile) {
  EXPECT_EQ(message_of(ErrorCode::kParse, [] { parse_json_model(GetParam().text, "m.json"); }), GetParam().message);
}

#define VARIABLES R"("variables": [{"name": "a", "states": 2}, {"name": "b", "states": ["x", "y", "z"]}])"
#define PROGRAMS R"("programs": {"p": {"command": ["true"]}})"
#define FACTOR(text) "{" VARIABLES ", " PROGRAMS ", \"factors\": [" text "]}"
#define PROGRAM(text) R"({"variables": [], "factors": [], "programs": {"p": )" text "}}"

INSTANTIATE_TEST_SUITE_P(
    Structure, BadJsonModel,
    ::testing::Values(BadText{"[]", "m.json: allowed is an object, found []"},
                      BadText{"{}", "m.json: the field 'variables' is missing"},
                      BadText{R"({"variables": []})", "m.json: the field 'factors' is missing"},
                      BadText{R"({"variables": [], "factors": [], "edges": 1})",
                              "m.json: unknown field 'edges', allowed are description, variables, programs, factors"},
                      BadText{R"({"variables": {}, "factors": []})",
                              "m.json: variables: allowed is an array, found {}"},
                      BadText{R"({"variables": [], "variables": [], "factors": []})",
                              "m.json: the key \"variables\" is twice in one object"},
                      BadText{R"({"variables": [], "factors": 3})", "m.json: factors: allowed is an array, found 3"},
                      BadText{R"({"variables": [], "factors": [{"scope": [], "log_values": [2e300]}]})",
                              "m.json: factors[0].log_values[0]: the log-value is 2e+300, allowed are -inf and "
                              "numbers from -1e+300 to 1e+300"},
                      BadText{R"({"variables": [], "factors": [{"scope": [], "values": [1e999]}]})",
                              "m.json: not JSON: number overflow parsing '1e999'"}));

INSTANTIATE_TEST_SUITE_P(
    Variables, BadJsonModel,
    ::testing::Values(
        BadText{R"({"variables": [7], "factors": []})", "m.json: variables[0]: allowed is an object, found 7"},
        BadText{R"({"variables": [{"states": 2}], "factors": []})",
                "m.json: variables[0]: the field 'name' is missing"},
        BadText{R"({"variables": [{"name": "", "states": 2}], "factors": []})",
                "m.json: variables[0].name: allowed is a text that is not empty, found \"\""},
        BadText{R"({"variables": [{"name": "a"}], "factors": []})",
                "m.json: variables[0]: the field 'states' is missing"},
        BadText{R"({"variables": [{"name": "a", "states": 0}], "factors": []})",
                "m.json: variables[0].states: allowed is a whole number from 1 to 1048576, found 0"},
        BadText{R"({"variables": [{"name": "a", "states": 2.5}], "factors": []})",
                "m.json: variables[0].states: allowed is a whole number from 1 to 1048576, found 2.5"},
        BadText{R"({"variables": [{"name": "a", "states": 99999999999999999999}], "factors": []})",
                "m.json: variables[0].states: allowed is a whole number from 1 to 1048576, found 1e+20"},
        BadText{R"({"variables": [{"name": "a", "states": 4294967298}], "factors": []})",
                "m.json: variables[0].states: allowed is a whole number from 1 to 1048576, found 4294967298"},
        BadText{R"({"variables": [{"name": "a", "states": true}], "factors": []})",
                "m.json: variables[0].states: allowed is a list of names or a number of states"},
        BadText{R"({"variables": [{"name": "a", "states": []}], "factors": []})",
                "m.json: variables[0].states: 0 states, allowed are 1 to 1048576"},
        BadText{R"({"variables": [{"name": "a", "states": ["x", 1]}], "factors": []})",
                "m.json: variables[0].states[1]: allowed is a text that is not empty, found 1"},
        BadText{R"({"variables": [{"name": "a", "states": ["x", "x"]}], "factors": []})",
                "m.json: variables[0].states[1]: two states have the name 'x'"},
        BadText{R"({"variables": [{"name": "a", "states": 1}, {"name": "a", "states": 2}], "factors": []})",
                "m.json: variables[1].name: two variables have the name 'a'"}));

INSTANTIATE_TEST_SUITE_P(
    Programs, BadJsonModel,
    ::testing::Values(
        BadText{R"({"variables": [], "factors": [], "programs": []})",
                "m.json: programs: allowed is an object with one field per program"},
        BadText{R"({"variables": [], "factors": [], "programs": {"": {"command": ["x"]}}})",
                "m.json: programs: the name of a program cannot be empty"},
        BadText{PROGRAM("{}"), "m.json: programs.p: a program has exactly one of the fields command, python, umbridge"},
        BadText{PROGRAM(R"({"command": "python3 x.py"})"),
                "m.json: programs.p.command: allowed is an array, found \"python3 x.py\""},
        BadText{PROGRAM(R"({"command": []})"),
                "m.json: programs.p.command: the list is empty, its first entry is the program"},
        BadText{PROGRAM(R"({"command": ["x", 1]})"),
                "m.json: programs.p.command[1]: allowed is a text that is not empty, found 1"},
        BadText{PROGRAM(R"({"command": ["x"], "files": [null]})"),
                "m.json: programs.p.files[0]: allowed is a text that is not empty, found null"},
        BadText{PROGRAM(R"({"command": ["x"], "timeout_seconds": 0})"),
                "m.json: programs.p.timeout_seconds: allowed is a number from 0.001 to 1000000, found 0"},
        BadText{PROGRAM(R"({"command": ["x"], "start_timeout_seconds": "1"})"),
                "m.json: programs.p.start_timeout_seconds: allowed is a number from 0.001 to 1000000, found \"1\""},
        BadText{PROGRAM(R"({"command": ["x"], "max_retries": -1})"),
                "m.json: programs.p.max_retries: allowed is a whole number from 0 to 1000, found -1"},
        BadText{PROGRAM(R"({"command": ["x"], "max_batch": 0})"),
                "m.json: programs.p.max_batch: allowed is a whole number from 1 to 1000000, found 0"},
        BadText{
            PROGRAM(R"({"command": ["x"], "timeout": 1})"),
            "m.json: programs.p: unknown field 'timeout', allowed are command, python, interpreter, files, "
            "timeout_seconds, "
            "start_timeout_seconds, max_retries, max_batch, on_failure, max_failure_share, umbridge, model, inputs, "
            "numbers, output, transform, scale, config"},
        BadText{PROGRAM(R"({"command": ["x"], "on_failure": "ignore"})"),
                "m.json: programs.p.on_failure: allowed are \"stop\", \"impossible\", \"skip\" and a number, the "
                "log-value of what fails"},
        BadText{R"({"variables": [{"name": "a", "states": 2}], "programs": {"p": {"command": ["x"], "on_failure": -1}},
                    "factors": [{"name": "f", "scope": ["a"], "program": "p", "monotone": true}]})",
                "m.json: factors[0].monotone: needs the on_failure \"stop\" of the program 'p': what a failure counts "
                "as would bound other states"},
        BadText{PROGRAM(R"({"command": ["x"], "on_failure": 1e9})"),
                "m.json: programs.p.on_failure: the log-value is 1000000000, allowed are -inf and numbers from -1e+300 "
                "to 17000000"}));

INSTANTIATE_TEST_SUITE_P(
    Factors, BadJsonModel,
    ::testing::Values(
        BadText{FACTOR(R"({"scope": ["a"]})"),
                "m.json: factors[0]: a factor has exactly one of the fields values, log_values, clause, program"},
        BadText{FACTOR(R"({"scope": ["a"], "values": [1, 1], "log_values": [0, 0]})"),
                "m.json: factors[0]: a factor has exactly one of the fields values, log_values, clause, program"},
        BadText{FACTOR(R"({"values": [1]})"), "m.json: factors[0]: the field 'scope' is missing"},
        BadText{FACTOR(R"({"scope": ["a"], "values": [1, 1]}, {"scope": ["a", "x9"], "values": [1]})"),
                "m.json: factors[1].scope[1]: unknown variable 'x9'"},
        BadText{FACTOR(R"({"scope": ["a", "a"], "values": [1, 1]})"),
                "m.json: factors[0].scope[1]: the variable 'a' is twice in the scope"},
        BadText{FACTOR(R"({"scope": [0], "values": [1, 1]})"),
                "m.json: factors[0].scope[0]: allowed is a text that is not empty, found 0"},
        BadText{FACTOR(R"({"scope": ["a", "b"], "values": [1, 1, 1]})"),
                "m.json: factors[0].values: 3 entries, the scope needs 6"},
        BadText{FACTOR(R"({"scope": ["a"], "values": [1, -0.5]})"),
                "m.json: factors[0].values[1]: allowed is a number from 0 up, found -0.5"},
        BadText{FACTOR(R"({"scope": ["a"], "values": ["-inf", 0]})"),
                "m.json: factors[0].values[0]: allowed is a number from 0 up, found \"-inf\""},
        BadText{FACTOR(R"({"scope": ["a"], "log_values": [1, "inf"]})"),
                "m.json: factors[0].log_values[1]: allowed is a number or the text \"-inf\", found \"inf\""},
        BadText{FACTOR(R"({"scope": ["a"], "log_values": [null, 0]})"),
                "m.json: factors[0].log_values[0]: allowed is a number or the text \"-inf\", found null"},
        BadText{FACTOR(R"({"scope": ["a"], "values": [1, 1], "cost": 1})"),
                "m.json: factors[0].cost: only a factor with a program has this field"},
        BadText{FACTOR(R"({"name": "f", "scope": ["a"], "values": [1, 1]}, {"name": "f", "scope": [], "values": [1]})"),
                "m.json: factors[1].name: two factors have the name 'f'"},
        BadText{FACTOR(R"({"scope": ["a"], "program": "p"})"),
                "m.json: factors[0]: a factor with a program needs a name"},
        BadText{FACTOR(R"({"name": "f", "scope": [], "program": "p"})"),
                "m.json: factors[0].scope: the scope of a factor with a program cannot be empty"},
        BadText{FACTOR(R"({"name": "f", "scope": ["a"], "program": "q"})"),
                "m.json: factors[0].program: unknown program 'q'"},
        BadText{FACTOR(R"({"name": "f", "scope": ["a"], "program": "p", "cost": -1})"),
                "m.json: factors[0].cost: allowed is a number from 0 to 1000000, found -1"},
        BadText{FACTOR(R"({"name": "f", "scope": ["a"], "program": "p", "log_max": "high"})"),
                "m.json: factors[0].log_max: allowed is a number or the text \"-inf\", found \"high\""}));

TEST(JsonModel, TextThatIsNotJsonIsRefusedWithItsLine) {
  const std::string message =
      message_of(ErrorCode::kParse, [] { parse_json_model("{\n  \"variables\": [\n}", "m.json"); });
  EXPECT_EQ(message.rfind("m.json:3: not JSON: syntax error while parsing value", 0), 0U) << message;
  EXPECT_EQ(message_of(ErrorCode::kParse, [] { parse_json_model("", "m.json"); }).rfind("m.json:1: not JSON: ", 0), 0U);
}

TEST(JsonModel, AByteOrderMarkIsSkipped) {
  EXPECT_TRUE(parse_json_model("\xEF\xBB\xBF{\"variables\": [], \"factors\": []}", "m.json").variables.empty());
}

TEST(JsonModel, DeepNestingIsRefusedInEveryField) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  for (const std::string start :
       {"", R"({"variables": )", R"({"variables": [{"name": )", R"({"variables": [{"name": "a", "states": )",
        R"({"variables": [], "programs": {"p": )", R"({"variables": [], "factors": [{"scope": [], "values": [)",
        R"({"description": )"}) {
    EXPECT_EQ(message_of(ErrorCode::kParse, [&] { parse_json_model(start + deep, "m.json"); }),
              "m.json:1: lists and objects are nested deeper than the allowed 64 levels");
  }
}

TEST(JsonModel, WhatATableCannotHoldNamesFileAndFactor) {
  JsonModel model{
      .source_name = "m.json", .variables = {{.num_states = 2, .name = "a"}}, .programs = {}, .factors = {}};
  model.factors.push_back({.scope = {0}, .log_values = {0.0, 0.0}});
  model.factors.push_back({.scope = {0}, .log_values = {HUGE_VAL, 0.0}});
  const std::string message = message_of(ErrorCode::kParse, [&] { table_model(model); });
  EXPECT_EQ(message.rfind("m.json: factors[1]: ", 0), 0U) << message;
}

TEST(JsonModel, AScopeThatNeedsAHugeTableIsRefusedBeforeAnythingIsAllocated) {
  const std::string text = R"({"variables": [{"name": "a", "states": 1000000}, {"name": "b", "states": 1000000}],
                               "factors": [{"scope": ["a", "b"], "values": []}]})";
  EXPECT_EQ(message_of(ErrorCode::kParse, [&] { parse_json_model(text, "m.json"); }),
            "m.json: factors[0].values: the scope needs more than 268435456 entries");
}

}  // namespace
}  // namespace treesample
