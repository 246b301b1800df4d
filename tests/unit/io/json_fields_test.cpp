#include "io/json_fields.hpp"

#include <string>

#include "support/expect_error.hpp"
#include "treesample/io/json_text.hpp"

namespace treesample {
namespace {

using nlohmann::json;
using testing::message_of;

std::string nested(const std::string& open, const std::string& inner, const std::string& close, int depth) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += open;
  text += inner;
  for (int i = 0; i < depth; ++i) text += close;
  return text;
}

std::string refusal(const std::string& text) {
  return message_of(ErrorCode::kParse, [&] { parse_json_text(text, "t.json"); });
}

constexpr const char* kTooDeep = "t.json:1: lists and objects are nested deeper than the allowed 64 levels";

TEST(JsonDepth, SixtyFourLevelsAreRead) {
  EXPECT_TRUE(parse_json_text(nested("[", "", "]", kMaxJsonDepth), "t.json").is_array());
  EXPECT_TRUE(parse_json_text(nested("{\"a\":", "1", "}", kMaxJsonDepth), "t.json").is_object());
}

TEST(JsonDepth, MoreAreRefused) {
  for (const int depth : {kMaxJsonDepth + 1, 1000, 1'000'000}) {
    EXPECT_EQ(refusal(nested("[", "", "]", depth)), kTooDeep);
    EXPECT_EQ(refusal(nested("{\"a\":", "1", "}", depth)), kTooDeep);
    EXPECT_EQ(refusal(nested("[{\"a\":", "1", "}]", depth)), kTooDeep);
    EXPECT_EQ(refusal(std::string(static_cast<std::size_t>(depth), '[')), kTooDeep);
  }
  EXPECT_EQ(refusal("\n\n" + nested("[", "", "]", 65)).substr(0, 9), "t.json:3:");
}

TEST(JsonDepth, BracketsInStringsAreText) {
  const std::string brackets(1000, '[');
  EXPECT_EQ(parse_json_text("[\"" + brackets + "\"]", "t.json")[0], brackets);
  EXPECT_EQ(parse_json_text("[\"\\\"" + brackets + "\"]", "t.json")[0], "\"" + brackets);
  EXPECT_EQ(parse_json_text("[\"\\\\\", [" + brackets.substr(0, 60) + std::string(60, ']') + "]]", "t.json").size(),
            2U);
}

TEST(JsonDepth, ListsSideBySideAreNotDeep) {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += "[[]],{},";
  EXPECT_EQ(parse_json_text(text + "0]", "t.json").size(), 2001U);
}

TEST(JsonText, IsUtf8WhateverTheValueHolds) {
  const json value = {{"k\xff",
                       "a\xfe"
                       "b"},
                      {"good", "\u00e4"}};
  const std::string text = json_text(value);
  EXPECT_EQ(text,
            "{\"good\":\"\u00e4\",\"k\ufffd\":\"a\ufffd"
            "b\"}");
  EXPECT_EQ(json::parse(text)["good"], "\u00e4");
}

TEST(JsonShown, ListsAndObjectsAreNotQuoted) {
  EXPECT_EQ(shown(json::parse("[1, [2, 3]]")), "a list of 2 values");
  EXPECT_EQ(shown(json::parse("{\"a\": {}}")), "an object of 1 field");
  EXPECT_EQ(shown(json(1.5)), "1.5");
  EXPECT_EQ(shown(json(std::string(100, 'x'))), "\"" + std::string(39, 'x') + "...");
  EXPECT_EQ(shown(json("\x1b")), "\"\\u001b\"");
}

}  // namespace
}  // namespace treesample
