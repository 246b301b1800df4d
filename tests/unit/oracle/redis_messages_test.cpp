#include "oracle/redis_messages.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

OracleModel small_model() {
  OracleModel model{.name = "small", .parts = {{"the variables", "1"}, {kTablesPart, "2"}}};
  model.variables = {{.num_states = 2, .name = "a"}, {.num_states = 3, .name = "b"}};
  const auto zero = [](std::span<const int>) { return 0.0; };
  model.factors = {{.name = "table", .label = "table", .factor = Factor::table({0}, {0.0, 0.0})},
                   {.name = "f", .label = "f", .factor = Factor::function({0, 1}, zero), .source = 0}};
  return model;
}

TEST(RedisMessages, AreReadBackToTheBit) {
  const AskedFactors factors(small_model());
  AnswerBatch batch{.fingerprint = "abc", .worker = "host:1", .results = {}};
  const double values[] = {0.1, -1e300, kNegInf, 1.0 / 3.0, std::numeric_limits<double>::denorm_min(), 0.0};
  for (int i = 0; i < 6; ++i) {
    batch.results.push_back({.job = {1, {i / 3, i % 3}}, .log_value = values[i], .seconds = 1.0 / (3 + i)});
  }
  batch.results[5].error = Error(ErrorCode::kNumeric, "a log-value of NaN \xff");
  batch.results[5].num_failures = 3;
  const AnswerBatch read = parse_answers(format_answers(batch, factors), factors);
  ASSERT_EQ(read.results.size(), 6U);
  EXPECT_EQ(read.fingerprint, "abc");
  EXPECT_EQ(read.worker, "host:1");
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(read.results[i].job.factor, 1);
    EXPECT_EQ(read.results[i].job.states, batch.results[i].job.states);
    EXPECT_EQ(read.results[i].seconds, batch.results[i].seconds);
    if (i < 5) {
      EXPECT_EQ(read.results[i].log_value, values[i]);
    }
  }
  ASSERT_TRUE(read.results[5].error);
  EXPECT_EQ(read.results[5].error->code(), ErrorCode::kNumeric);
  EXPECT_EQ(read.results[5].num_failures, 3);

  const QuestionBatch asked{.session = "s", .jobs = {{1, {0, 2}}, {1, {1, 0}}}};
  const QuestionBatch heard = parse_questions(format_questions(asked, factors), factors);
  EXPECT_EQ(heard.session, "s");
  ASSERT_EQ(heard.jobs.size(), 2U);
  EXPECT_EQ(heard.jobs[1].states, (std::vector<int>{1, 0}));

  const RunHead head{.version = "1",
                     .session = "s",
                     .fingerprint = "f",
                     .parts = small_model().parts,
                     .lease_seconds = 2.5,
                     .is_done = true};
  const RunHead seen = parse_head(format_head(head));
  EXPECT_EQ(seen.parts.size(), 2U);
  EXPECT_EQ(seen.parts[1].name, kTablesPart);
  EXPECT_EQ(seen.lease_seconds, 2.5);
  EXPECT_TRUE(seen.is_done);
  EXPECT_EQ(value_parts(seen.parts).size(), 1U) << "values do not depend on tables";
}

TEST(RedisMessages, WhatTheModelDoesNotHaveIsRefused) {
  const AskedFactors factors(small_model());
  for (const char* text :
       {"", "{", "[]", "3", R"({"session": "s", "factor": "g", "assignments": [[0, 0]]})",
        R"({"session": "s", "factor": "table", "assignments": [[0]]})",
        R"({"session": "s", "factor": "f", "assignments": [[0, 3]]})",
        R"({"session": "s", "factor": "f", "assignments": [[-1, 0]]})",
        R"({"session": "s", "factor": "f", "assignments": [[0]]})",
        R"({"session": "s", "factor": "f", "assignments": [[0, 0.5]]})",
        R"({"session": "s", "factor": "f", "assignments": []})", R"({"factor": "f", "assignments": [[0, 0]]})"}) {
    EXPECT_THROW(parse_questions(text, factors), Error) << text;
  }
  const std::string begin = R"({"fingerprint": "x", "worker": "w", "factor": "f", "results": [{"states": [0, 0], )";
  EXPECT_NO_THROW(parse_answers(begin + R"("seconds": 1, "failures": 0, "log_value": -1}]})", factors));
  for (const char* end :
       {R"("seconds": 1, "failures": 0}]})", R"("seconds": -1, "failures": 0, "log_value": -1}]})",
        R"("seconds": 1, "failures": 0, "log_value": "inf"}]})",
        R"("seconds": 1, "failures": 0, "log_value": 1e200}]})", R"("seconds": 1, "failures": 0, "log_value": null}]})",
        R"("seconds": 1, "failures": 0, "log_value": -1, "more": 2}]})"}) {
    EXPECT_THROW(parse_answers(begin + end, factors), Error) << end;
  }
}

}  // namespace
}  // namespace treesample
