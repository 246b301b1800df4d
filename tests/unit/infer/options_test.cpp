#include "treesample/infer/options.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "infer/option_table.hpp"
#include "treesample/error.hpp"
#include "treesample/infer/option_groups.hpp"

namespace treesample {
namespace {

std::string refusal(const char* option, const char* text) {
  InferRequest request;
  try {
    set_option(request, option, text);
  } catch (const OptionError& error) {
    EXPECT_EQ(error.option(), option);
    EXPECT_EQ(error.code(), ErrorCode::kArgument);
    return error.what();
  }
  return "";
}

// Nothing is asked for in particular where nobody asks, and nothing is kept.
bool is_empty_at_first(const OptionRow& row) {
  return std::set<std::string>{"query", "map", "sensitivity", "value-for", "resume", "order-file", "slices"}.contains(
      row.name);
}

TEST(InferOptions, EverythingIsOpenAtFirstAndTheDefaultsAreNot) {
  const InferRequest open, filled = default_request();
  for (const OptionRow& row : option_rows()) {
    EXPECT_FALSE(row.is_given(open)) << row.name;
    EXPECT_EQ(row.text(filled).empty(), is_empty_at_first(row)) << row.name;
  }
}

TEST(InferOptions, TextComesBack) {
  const InferRequest filled = default_request();
  for (const OptionRow& row : option_rows()) {
    if (is_empty_at_first(row)) continue;
    InferRequest request;
    set_option(request, row.name, row.text(filled));
    EXPECT_EQ(option_text(request, row.name), row.text(filled)) << row.name;
    InferRequest copied;
    row.copy(request, copied);
    EXPECT_EQ(row.text(copied), row.text(filled)) << row.name;
  }
}

TEST(InferOptions, NumbersAreTakenAsPeopleTypeThem) {
  InferRequest request;
  set_option(request, "budget", "1e6");
  set_option(request, "samples", "2.5e3");
  set_option(request, "memory", "512M");
  set_option(request, "c", "1e-3");
  set_option(request, "seed", "9223372036854775807");
  EXPECT_EQ(request.limits.budget, 1'000'000);
  EXPECT_EQ(request.question.samples, 2500);
  EXPECT_EQ(request.limits.bytes, std::size_t{512} << 20);
  EXPECT_EQ(request.options.c, 1e-3);
  EXPECT_EQ(request.options.seed, 9223372036854775807U);
}

TEST(InferOptions, TimeAndMemoryHaveUnits) {
  const auto seconds = [](const char* text) {
    InferRequest request;
    set_option(request, "time", text);
    return request.limits.seconds;
  };
  EXPECT_EQ(seconds("90"), 90.0);
  EXPECT_EQ(seconds("500ms"), 0.5);
  EXPECT_EQ(seconds("90s"), 90.0);
  EXPECT_EQ(seconds("1.5m"), 90.0);
  EXPECT_EQ(seconds("2min"), 120.0);
  EXPECT_EQ(seconds("1h"), 3600.0);
  EXPECT_EQ(seconds("2d"), 172800.0);
  for (const char* text : {"h", "1x", "-1h", "1 h", "1hh", ""}) EXPECT_THROW(seconds(text), OptionError) << text;

  const auto bytes = [](const char* text) {
    InferRequest request;
    set_option(request, "memory", text);
    return request.limits.bytes;
  };
  EXPECT_EQ(bytes("4GB"), std::size_t{4} << 30);
  EXPECT_EQ(bytes("4gb"), std::size_t{4} << 30);
  EXPECT_EQ(bytes("4GiB"), std::size_t{4} << 30);
  EXPECT_EQ(bytes("100B"), 100U);
  for (const char* text : {"B", "GB", "4BB", "4iB", "iB"}) EXPECT_THROW(bytes(text), OptionError) << text;
}

TEST(InferOptions, AutoLeavesTheMethodOpen) {
  InferRequest request;
  request.options.method = Method::kCount;
  set_option(request, "method", "auto");
  EXPECT_FALSE(request.options.method);
}

TEST(InferOptions, WhatIsNotAllowedIsRefusedByName) {
  EXPECT_EQ(refusal("c", "-1"), "--c is '-1', allowed are numbers from 0 up");
  EXPECT_EQ(refusal("ess-threshold", "2"), "--ess-threshold is '2', allowed are numbers from 0 to 1");
  EXPECT_EQ(refusal("sweeps", "1.5"), "--sweeps is '1.5', allowed are whole numbers from 1 to 1000000");
  EXPECT_EQ(refusal("space", "forest"), "--space is 'forest', allowed are tree|graph|andor");
  EXPECT_TRUE(refusal("method", "foo").starts_with("--method is 'foo', allowed are auto|")) << refusal("method", "foo");
  EXPECT_NE(refusal("memory", "lots").find("such as 512M"), std::string::npos);
  EXPECT_NE(refusal("c", "nan"), "");
  EXPECT_NE(refusal("colour", "red"), "");
}

TEST(InferOptions, ARequestFromCodeIsCheckedByTheSameTable) {
  InferRequest request;
  request.options.ess_threshold = 1.5;
  EXPECT_THROW(request.validate(), OptionError);
  request.options.ess_threshold = 0.5;
  EXPECT_NO_THROW(request.validate());
  request.options.damping = NAN;
  EXPECT_THROW(request.validate(), OptionError);
}

TEST(InferOptions, EveryOptionIsUsedBySomeWayAndExplained) {
  for (const OptionInfo& option : infer_options()) {
    EXPECT_NE(option_row(option.name).ways, 0U) << option.name;
    EXPECT_FALSE(option.help.empty()) << option.name;
    EXPECT_FALSE(option.meta.empty()) << option.name;
    EXPECT_EQ(&infer_option(option.name), &option);
  }
}

TEST(InferOptions, EveryOptionHasItsGroup) {
  for (const OptionInfo& option : infer_options()) {
    EXPECT_STRNE(option_group(option.name), option_group("no such option")) << option.name;
  }
}

TEST(InferOptions, NamesAreLists) {
  InferRequest request;
  set_option(request, "query", "lung");
  set_option(request, "query", "lung, \"to be, or\"");
  set_option(request, "map", "a,b");
  EXPECT_EQ(request.question.query, (std::vector<std::vector<std::string>>{{"lung"}, {"lung", "to be, or"}}));
  EXPECT_EQ(request.question.map, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(option_text(request, "query"), "lung; lung,\"to be, or\"");
  EXPECT_THROW(set_option(request, "map", "a,,b"), OptionError);
}

}  // namespace
}  // namespace treesample
