#include "io/umbridge_fields.hpp"

#include <gtest/gtest.h>

namespace treesample {
namespace {

constexpr const char* kModel = R"({
  "variables": [{"name": "depth", "states": ["low", "high"]}, {"name": "slope", "states": ["1", "2.5"]},
                {"name": "count", "states": 3}],
  "programs": {"flow": {"umbridge": "http://host:4242/", "model": "forward", "inputs": [["depth", 9.81], ["slope", "depth"]],
                        "numbers": {"depth": [0.1, 3]}, "output": [1, 2], "transform": "log", "scale": -0.25,
                        "config": {"level": [1, {"a": null}]}, "on_failure": "skip"},
               "plain": {"umbridge": "http://host", "model": "m"}},
  "factors": [{"name": "f", "scope": ["slope", "depth"], "program": "flow"},
              {"name": "g", "scope": ["count", "slope"], "program": "plain"}]})";

TEST(UmBridgeFields, AreReadAndWrittenBack) {
  const JsonModel model = parse_json_model(kModel, "model.json");
  const UmBridgeDescription& flow = *model.programs[0].umbridge;
  EXPECT_EQ(flow.url, "http://host:4242");
  ASSERT_EQ(flow.inputs.size(), 2U);
  EXPECT_EQ(flow.inputs[0][0].numbers, (std::vector<double>{0.1, 3.0}));
  EXPECT_EQ(flow.inputs[0][1].variable, -1);
  EXPECT_EQ(flow.inputs[1][0].numbers, (std::vector<double>{1.0, 2.5})) << "names that are numbers";
  EXPECT_EQ(flow.output_vector, 1);
  EXPECT_EQ(flow.output_entry, 2);
  EXPECT_EQ(flow.transform, UmBridgeDescription::Transform::kLog);
  EXPECT_EQ(flow.scale, -0.25);
  EXPECT_EQ(flow.config, R"({"level":[1,{"a":null}]})");
  const UmBridgeDescription& plain = *model.programs[1].umbridge;
  ASSERT_EQ(plain.inputs.size(), 1U) << "one vector, in the order of the scope";
  EXPECT_EQ(plain.inputs[0][0].variable, 2);
  EXPECT_EQ(plain.inputs[0][0].numbers, (std::vector<double>{0.0, 1.0, 2.0}));

  const std::string text = format_json_model(model);
  const JsonModel again = parse_json_model(text, "model.json");
  EXPECT_EQ(format_json_model(again), text);
  for (int p = 0; p < 2; ++p) EXPECT_EQ(again.programs[p].command, model.programs[p].command);
}

TEST(UmBridgeFields, ValuesDoNotDependOnTheAddress) {
  std::string moved = kModel;
  moved.replace(moved.find("host:4242"), 9, "elsewhere");
  EXPECT_EQ(parse_json_model(moved, "m").programs[0].command, parse_json_model(kModel, "m").programs[0].command);
  std::string changed = kModel;
  changed.replace(changed.find("-0.25"), 5, "-0.75");
  EXPECT_NE(parse_json_model(changed, "m").programs[0].command, parse_json_model(kModel, "m").programs[0].command);
}

}  // namespace
}  // namespace treesample
