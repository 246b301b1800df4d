#include "treesample/io/json_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "treesample/math/random.hpp"

namespace treesample {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<std::string> kTexts = {"",
                                         "x1",
                                         "two words",
                                         "a \"quote\"",
                                         "back\\slash",
                                         "\n\t",
                                         "\x01\x1f",
                                         "\x7f",
                                         "gr\xc3\xb6\xc3\x9f"
                                         "e",
                                         "\xff",
                                         "a\xc3",
                                         std::string("a\0b", 3),
                                         "</script>",
                                         "\xe2\x80\xa8"};

void write(JsonWriter& out, const Json& value) {
  if (value.is_object()) {
    out.begin_object();
    for (const auto& [name, field] : value.items()) {
      out.name(name);
      write(out, field);
    }
    out.end_object();
  } else if (value.is_array()) {
    out.begin_array();
    for (const Json& element : value) write(out, element);
    out.end_array();
  } else if (value.is_string()) {
    out.text(value.get<std::string>());
  } else if (value.is_number_integer()) {
    out.whole_number(value.get<std::int64_t>());
  } else {
    out.value(value);
  }
}

Json random_value(Random& random, int depth) {
  const int kind = static_cast<int>(random.below(depth > 0 ? 6 : 4));
  if (kind == 0) return kTexts[random.below(kTexts.size())];
  if (kind == 1) return static_cast<int>(random.below(2000)) - 1000;
  if (kind == 2) return random.below(2) == 0;
  if (kind == 3) return {};
  Json value = kind == 4 ? Json::array() : Json::object();
  const int size = static_cast<int>(random.below(4));
  for (int i = 0; i < size; ++i) {
    Json inner = random_value(random, depth - 1);
    if (kind == 4) {
      value.push_back(std::move(inner));
    } else {
      value[std::to_string(i) + kTexts[random.below(kTexts.size())]] = std::move(inner);
    }
  }
  return value;
}

TEST(JsonWriter, LaysOutWhatTheOtherWriterDoes) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const Json value = random_value(random, 4);
    for (const int indent : {-1, 0, 1, 3}) {
      JsonWriter pieces(indent);
      write(pieces, value);
      EXPECT_EQ(pieces.take(), json_text(value, indent));
      JsonWriter whole(indent);  // as one field of an object
      whole.begin_object();
      whole.field("first", Json(1));
      whole.field("value", value);
      whole.end_object();
      EXPECT_EQ(whole.take(), json_text(Json{{"first", 1}, {"value", value}}, indent));
    }
  }
}

TEST(JsonWriter, OneLineHoldsEverythingInIt) {
  Random random(3);
  for (int i = 0; i < 500; ++i) {
    const Json value = random_value(random, 4);
    JsonWriter out(1);
    out.begin_array();
    out.begin_object(JsonWriter::Layout::kOneLine);
    out.name("pieces");
    write(out, value);
    out.field("whole", value);
    out.end_object();
    out.numbers(std::vector<int>{1, 2});
    out.end_array();
    const std::string text = out.take();
    EXPECT_EQ(Json::parse(text), Json::parse(json_text(Json::array({{{"pieces", value}, {"whole", value}}, {1, 2}}))));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
    EXPECT_TRUE(text.ends_with("},\n [1, 2]\n]")) << text;
  }
}

TEST(JsonWriter, NumbersAreReadAsTheSameNumbers) {
  using Limits = std::numeric_limits<double>;
  Random random(2);
  std::vector<double> values = {
      0.0,  -0.0, 1.0,  -3.0,   0.1,    1e15,          1e16,          1e17,          123456789012345678.0,
      1e-4, 1e-5, 1e22, 1e-300, 5e-324, Limits::max(), Limits::min(), -Limits::max()};
  while (values.size() < 20000) {
    const auto value = std::bit_cast<double>(random.bits());
    if (std::isfinite(value)) values.push_back(value);
  }
  for (const double value : values) {
    JsonWriter out;
    out.number(value);
    const std::string text = out.take();
    const Json read = Json::parse(text);
    EXPECT_TRUE(read.is_number_float()) << text;
    EXPECT_EQ(read.get<double>(), value) << text;
    EXPECT_FALSE(text.starts_with("-0.0") && value == 0.0);
  }
}

TEST(JsonWriter, WhatIsNotFiniteIsNull) {
  JsonWriter out;
  out.numbers(std::vector<double>{HUGE_VAL, -HUGE_VAL, std::nan(""), 2.0});
  EXPECT_EQ(out.take(), "[null,null,null,2.0]");
}

}  // namespace
}  // namespace treesample
