#include "oracle/protocol.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

using testing::message_of;

TEST(Protocol, LinesAreTheDocumentedOnes) {
  const JsonModel model = parse_json_model(
      R"({"variables": [{"name": "a", "states": 2}, {"name": "b", "states": ["x", "y"]}],
          "programs": {"p": {"command": ["p"]}, "q": {"command": ["q"]}},
          "factors": [{"scope": ["a"], "values": [1, 1]}, {"name": "f", "scope": ["b", "a"], "program": "p"},
                      {"name": "g", "scope": ["a"], "program": "q"}]})",
      "m.json");
  EXPECT_EQ(format_hello(model, model.factors[1].program),
            R"({"factors":[{"name":"f","variables":[{"name":"b","states":["x","y"]},{"name":"a","states":2}]}],)"
            R"("treesample":1})");
  const std::vector<std::vector<int>> assignments = {{0, 2}, {1, 0}};
  EXPECT_EQ(format_request(7, "f", assignments), R"({"assignments":[[0,2],[1,0]],"factor":"f","id":7})");
  EXPECT_NO_THROW(check_ready(R"({"ready": true, "version": 3})"));
}

std::vector<double> values_of(const char* line, std::int64_t id, std::size_t num_values) {
  std::vector<double> values;
  for (const Evaluation& evaluation : parse_answer(line, id, num_values)) {
    EXPECT_EQ(evaluation.failure, "");
    values.push_back(evaluation.log_value);
  }
  return values;
}

TEST(Protocol, AnswersGiveTheirValues) {
  EXPECT_EQ(values_of(R"({"id": 7, "log_values": [-1.5, 2, 1e300]})", 7, 3), (std::vector<double>{-1.5, 2, 1e300}));
  EXPECT_EQ(values_of(R"({"log_values": [], "id": 0})", 0, 0), std::vector<double>{});
  EXPECT_EQ(values_of(R"({"id": 1, "log_values": ["-inf"]})", 1, 1)[0], kNegInf);
  EXPECT_EQ(values_of(R"({"id": 1, "log_values": [-Infinity, 0.5]})", 1, 2), (std::vector<double>{kNegInf, 0.5}));
  EXPECT_FALSE(std::signbit(values_of(R"({"id": 1, "log_values": [-0.0]})", 1, 1)[0]));
}

TEST(Protocol, OneOfSeveralAssignmentsCanFail) {
  const std::vector<Evaluation> values =
      parse_answer(R"({"id": 1, "log_values": [1, {"error": "diverged"}, {"error": [1]}]})", 1, 3);
  EXPECT_EQ(values[0].log_value, 1.0);
  EXPECT_EQ(values[0].failure, "");
  EXPECT_EQ(values[1].failure, "diverged");
  EXPECT_EQ(values[2].failure, "a list of 1 value");
}

TEST(Protocol, WordsInsideOfTextsAreNotValues) {
  try {
    parse_answer(R"({"id": 1, "error": "got \"NaN\" and \\", "log_values": [-Infinity]})", 1, 1);
    FAIL();
  } catch (const ProgramComplaint& complaint) {
    EXPECT_EQ(complaint.text, "got \"NaN\" and \\");
  }
}

TEST(Protocol, AnythingElseIsRefusedWithTheLine) {
  const auto refusal = [](const char* line) {
    return message_of(ErrorCode::kParse, [&] { parse_answer(line, 7, 2); });
  };
  EXPECT_EQ(refusal("loading model"), "no JSON in its line 'loading model'");
  EXPECT_EQ(refusal(""), "no JSON in its line ''");
  EXPECT_EQ(refusal("[1, 2]"), "no JSON object in its line '[1, 2]'");
  EXPECT_EQ(refusal(R"({"id": 6, "log_values": [0, 0]})"),
            R"(no "id": 7, which was asked, in its line '{"id": 6, "log_values": [0, 0]}')");
  EXPECT_EQ(refusal(R"({"log_values": [0, 0]})"),
            R"(no "id": 7, which was asked, in its line '{"log_values": [0, 0]}')");
  EXPECT_EQ(refusal(R"({"id": 7})"), R"(no list "log_values" in its line '{"id": 7}')");
  EXPECT_EQ(refusal(R"({"id": 7, "log_values": [0]})"),
            R"(1 log-values instead of 2 in its line '{"id": 7, "log_values": [0]}')");
  EXPECT_EQ(refusal(R"({"id": 7, "log_values": [0, null]})"),
            R"(null instead of a number or "-inf" in its line '{"id": 7, "log_values": [0, null]}')");
  EXPECT_EQ(refusal(R"({"id": 7, "log_values": [0, 1e999]})"),
            "no JSON in its line '{\"id\": 7, \"log_values\": [0, 1e999]}'");
  EXPECT_EQ(refusal("\x01\xff{"), "no JSON in its line '\\x01\\xff{'");
  EXPECT_EQ(refusal(std::string(100, 'x').c_str()), "no JSON in its line '" + std::string(80, 'x') + "...'");
}

TEST(Protocol, DeepNestingIsRefusedInEveryField) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  for (const std::string start : {"", R"({"id": )", R"({"id": 7, "log_values": )", R"({"id": 7, "error": )"}) {
    const std::string message = message_of(ErrorCode::kParse, [&] { parse_answer(start + deep + "}", 7, 2); });
    EXPECT_EQ(message.rfind("lists and objects are nested deeper than the allowed 64 levels in its line '", 0), 0U)
        << message;
    EXPECT_LT(message.size(), 200U);
  }
  EXPECT_THROW(check_ready("{\"ready\": " + deep + "}"), Error);
}

TEST(Protocol, NestedValuesAreNotQuoted) {
  EXPECT_EQ(message_of(ErrorCode::kParse, [] { parse_answer(R"({"id": 7, "log_values": [0, [1, [2]]]})", 7, 2); }),
            R"(a list of 2 values instead of a number or "-inf" in its line '{"id": 7, "log_values": [0, [1, [2]]]}')");
  try {
    parse_answer(R"({"id": 7, "error": {"why": [1]}})", 7, 2);
    ADD_FAILURE() << "a complaint is expected";
  } catch (const ProgramComplaint& complaint) {
    EXPECT_EQ(complaint.text, "an object of 1 field");
  }
}

TEST(Protocol, NanAndInfinityAreLeftToTheCaller) {
  EXPECT_TRUE(std::isnan(values_of(R"({"id": 7, "log_values": [NaN]})", 7, 1)[0]));
  EXPECT_EQ(values_of(R"({"id": 7, "log_values": [Infinity]})", 7, 1)[0], HUGE_VAL);
}

TEST(Protocol, AProgramMustSayThatItIsReady) {
  EXPECT_EQ(message_of(ErrorCode::kParse, [] { check_ready(R"({"ready": false})"); }),
            R"(no "ready": true in its line '{"ready": false}')");
  try {
    check_ready(R"({"error": "no licence"})");
    FAIL() << "the complaint was not heard";
  } catch (const ProgramComplaint& complaint) {
    EXPECT_EQ(complaint.text, "no licence");
  }
}

}  // namespace
}  // namespace treesample
