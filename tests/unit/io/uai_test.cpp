#include "treesample/io/uai.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/io/file.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

using testing::message_of;

std::string uai_message(const std::string& text) {
  return message_of(ErrorCode::kParse, [&] { parse_uai(text, "model.uai"); });
}

constexpr const char* kSmall = "MARKOV\n3\n2 3 1\n3\n2 1 0\n0\n1 2\n\n6\n1 2 3 4 0 6\n\n1\n0.5\n\n1\n1\n";

TEST(Uai, ReadsVariablesScopesAndTables) {
  const FactorGraph graph = parse_uai(kSmall, "model.uai");
  ASSERT_EQ(graph.num_variables(), 3);
  EXPECT_EQ(graph.num_states(0), 2);
  EXPECT_EQ(graph.num_states(1), 3);
  EXPECT_EQ(graph.num_states(2), 1);
  ASSERT_EQ(graph.num_factors(), 3);
  EXPECT_EQ(graph.factor(0).scope(), (std::vector<int>{1, 0}));
  EXPECT_EQ(graph.log_value(0, std::vector<int>{1, 0, 0}), std::log(2.0))
      << "the last variable of the scope is fastest";
  EXPECT_EQ(graph.log_value(0, std::vector<int>{0, 2, 0}), kNegInf);
  EXPECT_TRUE(graph.factor(1).scope().empty());
  EXPECT_EQ(graph.factor(1).log_values(), std::vector<double>{std::log(0.5)});
  EXPECT_EQ(graph.factor(2).log_values(), std::vector<double>{0.0});
}

TEST(Uai, WhiteSpaceAndCaseDoNotMatter) {
  std::string text = kSmall;
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  std::string one_line = "\t " + text;
  std::replace(one_line.begin(), one_line.end(), '\n', ' ');
  const std::string expected = format_uai(parse_uai(text, "a"));
  EXPECT_EQ(format_uai(parse_uai(crlf, "b")), expected);
  EXPECT_EQ(format_uai(parse_uai(one_line, "c")), expected);
  EXPECT_EQ(format_uai(parse_uai(text.replace(0, 6, "Bayes"), "d")), expected);
  EXPECT_EQ(parse_uai("markov 0 0", "e").num_variables(), 0);
}

TEST(Uai, RandomModelsSurviveTheRoundTrip) {
  Random random(7, "models");
  for (int i = 0; i < 200; ++i) {
    const FactorGraph graph = testing::random_model(
        random,
        {.num_variables = 5, .max_states = 4, .min_arity = 0, .zero_probability = 0.2, .scale = i < 100 ? 1.0 : 900.0});
    const FactorGraph again = parse_uai(format_uai(graph), "again");
    ASSERT_EQ(again.num_variables(), graph.num_variables());
    for (int v = 0; v < graph.num_variables(); ++v) EXPECT_EQ(again.num_states(v), graph.num_states(v));
    ASSERT_EQ(again.num_factors(), graph.num_factors());
    for (int m = 0; m < graph.num_factors(); ++m) {
      ASSERT_EQ(again.factor(m).scope(), graph.factor(m).scope());
      const std::vector<double>& expected = graph.factor(m).log_values();
      for (std::size_t e = 0; e < expected.size(); ++e) {
        const double read = again.factor(m).log_values()[e];
        if (expected[e] == kNegInf) {
          EXPECT_EQ(read, kNegInf);
        } else {
          EXPECT_NEAR(read, expected[e], 3e-16 * std::max(1.0, 4.0 * std::abs(expected[e])));
        }
      }
    }
  }
}

TEST(Uai, WritesAReadableFile) {
  FactorGraph graph = testing::variables({2, 1});
  graph.add_table({0, 1}, {kNegInf, std::log(0.25)});
  graph.add_table({}, {0.0});
  EXPECT_EQ(format_uai(graph), "MARKOV\n2\n2 1\n2\n2 0 1\n0\n\n2\n0 0.25\n\n1\n1\n");
}

TEST(Uai, WhatCannotBeWrittenIsRefused) {
  FactorGraph functions = testing::variables({2});
  functions.add_factor(Factor::function({0}, [](std::span<const int>) { return 0.0; }));
  EXPECT_EQ(message_of(ErrorCode::kArgument, [&] { format_uai(functions); }),
            "format_uai: factor 0 is a function, only tables can be written");
  FactorGraph huge;
  huge.add_table({}, {-2e15});
  EXPECT_EQ(message_of(ErrorCode::kArgument, [&] { format_uai(huge); }),
            "format_uai: entry 0 of factor 0 is -2e+15 in the log domain, allowed are -1e+15 to 1e+15 and -inf");
}

TEST(Uai, ErrorsInTheHeaderNameLineAndToken) {
  EXPECT_EQ(uai_message(""), "model.uai:1: expected MARKOV or BAYES, found the end of the file");
  EXPECT_EQ(uai_message("\nMARKOVIAN 1"), "model.uai:2: expected MARKOV or BAYES, found 'MARKOVIAN'");
  EXPECT_EQ(uai_message("MARKOV\n-1"), "model.uai:2: expected a number of variables from 0 to 2147483647, found '-1'");
  EXPECT_EQ(uai_message("MARKOV\n3000000000"),
            "model.uai:2: expected a number of variables from 0 to 2147483647, found '3000000000'");
  EXPECT_EQ(uai_message("MARKOV\n2\n2 abc"), "model.uai:3: expected a number of states from 1 to 1048576, found 'abc'");
  EXPECT_EQ(uai_message("MARKOV\n1\n0\n"), "model.uai:3: expected a number of states from 1 to 1048576, found '0'");
  EXPECT_EQ(uai_message("MARKOV\n1\n2.0\n"), "model.uai:3: expected a number of states from 1 to 1048576, found '2.0'");
  EXPECT_EQ(uai_message("MARKOV\n1\n2\n1x"),
            "model.uai:4: expected a number of factors from 0 to 2147483647, found '1x'");
}

TEST(Uai, ErrorsInScopesNameLineAndToken) {
  EXPECT_EQ(uai_message("MARKOV\n2\n2 2\n1\n3 0 1 2"),
            "model.uai:5: expected the number of variables of a factor from 0 to 2, found '3'");
  EXPECT_EQ(uai_message("MARKOV\n2\n2 2\n1\n2 0\n 2"), "model.uai:6: expected a variable from 0 to 1, found '2'");
  EXPECT_EQ(uai_message("MARKOV\n2\n2 2\n1\n2 1 1"), "model.uai:5: variable 1 is twice in the scope of factor 0");
  EXPECT_EQ(uai_message("MARKOV\n2\n1048576 1048576\n2\n1 0\n2 0 1"),
            "model.uai:6: the table of factor 1 has more than the allowed 268435456 entries");
}

TEST(Uai, ErrorsInTablesNameLineAndToken) {
  const std::string head = "MARKOV\n1\n3\n1\n1 0\n";
  EXPECT_EQ(uai_message(head + "2\n1 1"),
            "model.uai:6: expected 3, the number of table entries of factor 0, found '2'");
  const std::string expected = "expected entry 1 of factor 0, a finite number of at least 0, found ";
  EXPECT_EQ(uai_message(head + "3\n1\n-0.5 1"), "model.uai:8: " + expected + "'-0.5'");
  EXPECT_EQ(uai_message(head + "3\n1\ninf 1"), "model.uai:8: " + expected + "'inf'");
  EXPECT_EQ(uai_message(head + "3\n1\nnan 1"), "model.uai:8: " + expected + "'nan'");
  EXPECT_EQ(uai_message(head + "3\n1\n0,5 1"), "model.uai:8: " + expected + "'0,5'");
  EXPECT_EQ(uai_message(head + "3\n1\n"), "model.uai:8: " + expected + "the end of the file");
  EXPECT_EQ(uai_message(head + "3\n1 1 1\n\n7"), "model.uai:9: expected nothing after the last table, found '7'");
}

TEST(Uai, LongAndUnprintableTokensAreShownShort) {
  EXPECT_EQ(uai_message("\x1b[2JMARKOV"), "model.uai:1: expected MARKOV or BAYES, found '\\x1b[2JMARKOV'");
  EXPECT_EQ(uai_message(std::string(1000, 'a')),
            "model.uai:1: expected MARKOV or BAYES, found '" + std::string(40, 'a') + "...'");
}

TEST(Uai, AByteOrderMarkIsSkipped) {
  const std::string mark = "\xEF\xBB\xBF";
  const FactorGraph graph = parse_uai(mark + "MARKOV 1 2 1 1 0 2 1 3", "model.uai");
  EXPECT_EQ(graph.num_factors(), 1);
  EXPECT_EQ(parse_uai_evidence(mark + "1 0 1", "e", graph).size(), 1U);
  EXPECT_EQ(uai_message(mark + "\nX"), "model.uai:2: expected MARKOV or BAYES, found 'X'");
  EXPECT_EQ(uai_message("\xFF\xFEM"), "model.uai:1: the file is UTF-16, allowed is UTF-8");
}

TEST(Uai, MinusZeroIsZero) {
  for (const std::string zero : {"-0", "-0.0", "-0e5", "-.0", "-0.000e-400"}) {
    const FactorGraph graph = parse_uai("MARKOV 1 2 1 1 0 2 1 " + zero, "model.uai");
    EXPECT_EQ(graph.factor(0).log_values()[1], kNegInf) << zero;
  }
  for (const std::string token : {"--0", "-", "-1e-400", "-nan", "-0x", "+0"}) {
    EXPECT_EQ(uai_message("MARKOV 1 2 1 1 0 2 1 " + token),
              "model.uai:1: expected entry 1 of factor 0, a finite number of at least 0, found '" + token + "'");
  }
}

// With allocation ahead of the tokens this would need gigabytes for each line.
TEST(Uai, AnnouncedCountsAreNotAllocatedBeforeTheyAreThere) {
  EXPECT_NE(uai_message("MARKOV\n2147483647\n2").find("found the end of the file"), std::string::npos);
  EXPECT_NE(uai_message("MARKOV\n1\n2\n2147483647\n1 0").find("found the end of the file"), std::string::npos);
  EXPECT_NE(uai_message("MARKOV\n2\n16384 16384\n1\n2 0 1\n268435456\n1 1").find("entry 2 of factor 0"),
            std::string::npos);
}

class UaiFile : public testing::TemporaryFolder {};

TEST_F(UaiFile, ModelsAndEvidenceAreWrittenAndRead) {
  const FactorGraph graph = parse_uai(kSmall, "small");
  write_uai(graph, in_folder("m.uai"));
  EXPECT_EQ(format_uai(read_uai(in_folder("m.uai"))), format_uai(graph));
  write_uai_evidence({{.variable = 1, .state = 2}, {.variable = 0, .state = 1}}, in_folder("m.evid"));
  const Evidence evidence = read_uai_evidence(in_folder("m.evid"), graph);
  ASSERT_EQ(evidence.size(), 2U);
  EXPECT_EQ(evidence[0].variable, 1);
  EXPECT_EQ(evidence[0].state, 2);
  EXPECT_EQ(evidence[1].variable, 0);
  EXPECT_EQ(evidence[1].state, 1);
}

TEST_F(UaiFile, ErrorsNameThePath) {
  const std::string path = in_folder("bad.uai").string();
  write_file_atomically(path, "MARKOV\nx");
  EXPECT_EQ(message_of(ErrorCode::kParse, [&] { read_uai(path); }),
            path + ":2: expected a number of variables from 0 to 2147483647, found 'x'");
}

// The pairs as "v=x v=x".
std::string evidence_of(const std::string& text) {
  const FactorGraph graph = parse_uai(kSmall, "model.uai");
  std::string pairs;
  for (const auto& [v, x] : parse_uai_evidence(text, "e", graph)) {
    pairs += std::to_string(v) + "=" + std::to_string(x) + " ";
  }
  return pairs;
}

TEST(UaiEvidence, BothFormsAreRead) {
  EXPECT_EQ(evidence_of("2 1 2 0 1\n"), "1=2 0=1 ");
  EXPECT_EQ(evidence_of("2\r\n1 2\r\n0 1\r\n"), "1=2 0=1 ");
  EXPECT_EQ(evidence_of("1\n2 1 2 0 1\n"), "1=2 0=1 ");
  EXPECT_EQ(evidence_of("1 1 2"), "1=2 ");
  EXPECT_EQ(evidence_of("1\n1 1 2"), "1=2 ");
  EXPECT_EQ(evidence_of("1 0 0 "), "0=0 ");
  EXPECT_EQ(evidence_of("2 0 1 0 1"), "0=1 ") << "the same observation twice counts once";
}

TEST(UaiEvidence, NoEvidenceCanBeSaidInThreeWays) {
  EXPECT_EQ(evidence_of(" \n"), "");
  EXPECT_EQ(evidence_of("0"), "");
  EXPECT_EQ(evidence_of("1\n0\n"), "");
}

TEST(UaiEvidence, ErrorsNameLineAndToken) {
  const auto message = [](const std::string& text) {
    return message_of(ErrorCode::kParse, [&] { evidence_of(text); });
  };
  EXPECT_EQ(message("2\n1 0 0 1\n1 1 1"), "e:1: 2 observations are announced, but 7 numbers follow");
  EXPECT_EQ(message("2\n1 0 0\n1 1 1"), "e:1: the file holds 2 samples of evidence, allowed is one");
  EXPECT_EQ(message("3\n0 0 0"), "e:1: the file holds 3 samples of evidence, allowed is one");
  EXPECT_EQ(message("x"), "e:1: expected a number of observations from 0 to 2147483647, found 'x'");
  EXPECT_EQ(message("1\n2 1 0"), "e:1: 1 observations are announced, but 3 numbers follow");
  EXPECT_EQ(message("0 1"), "e:1: 0 observations are announced, but 1 numbers follow");
  EXPECT_EQ(message("1\n3 0"), "e:2: expected a variable from 0 to 2, found '3'");
  EXPECT_EQ(message("1\n1 3"), "e:2: expected a state of variable 1 from 0 to 2, found '3'");
  EXPECT_EQ(message("1\n1 no"), "e:2: expected a state of variable 1 from 0 to 2, found 'no'");
  EXPECT_EQ(message("2\n1 0\n1 2"), "e:3: variable 1 is observed in state 0 and in state 2");
}

}  // namespace
}  // namespace treesample
