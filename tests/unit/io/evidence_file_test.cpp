#include "treesample/io/evidence_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "treesample/error.hpp"

namespace treesample {
namespace {

FactorGraph clinic() {
  FactorGraph graph;
  graph.add_variable({.num_states = 2, .name = "xray", .state_names = {"yes", "no"}});
  graph.add_variable({.num_states = 3, .name = "Visit to Asia", .state_names = {"never", "once, or", "a=b"}});
  graph.add_variable({.num_states = 2, .name = "a=b", .state_names = {"?", "NA"}});
  graph.add_variable(3);
  return graph;
}

using Pairs = std::vector<std::pair<int, int>>;
Pairs pairs(const Observations& observed) {
  Pairs list;
  for (const auto& [variable, state] : observed.states) list.emplace_back(variable, state);
  return list;
}

class EvidenceText : public ::testing::Test {
 protected:
  Observations seen(const std::string& text) const {
    Observations known;
    observe(known, names, text);
    return known;
  }
  std::string refused(const std::string& text) const {
    return testing::message_of(ErrorCode::kArgument, [&] { seen(text); });
  }
  std::vector<Case> cases(const std::string& text, const std::string& extension) const {
    return parse_cases(text, "e" + extension, extension, names);
  }
  std::string wrong(const std::string& text, const std::string& extension) const {
    return testing::message_of(ErrorCode::kParse, [&] { cases(text, extension); });
  }
  const FactorGraph graph = clinic();
  const Names names{graph};
};

TEST_F(EvidenceText, StatesByName) {
  EXPECT_EQ(pairs(seen("xray=yes")), (Pairs{{0, 0}}));
  EXPECT_EQ(pairs(seen(" xray = no , Visit to Asia=never,x3=2")), (Pairs{{0, 1}, {1, 0}, {3, 2}}));
  EXPECT_EQ(pairs(seen("Visit to Asia=\"once, or\"")), (Pairs{{1, 1}}));
  EXPECT_EQ(pairs(seen("a=b=NA,Visit to Asia=a=b")), (Pairs{{2, 1}, {1, 2}}));
  EXPECT_EQ(pairs(seen("\"a=b\"=?")), (Pairs{{2, 0}}));
  EXPECT_EQ(pairs(seen("xray=yes,xray=yes")), (Pairs{{0, 0}}));
}

TEST_F(EvidenceText, Weights) {
  const Observations known = seen("Visit to Asia~0.5,0,2e-1,xray~1,3,x3=1");
  ASSERT_EQ(known.soft.size(), 2U);
  EXPECT_EQ(known.soft[0].weights, (std::vector<double>{0.5, 0, 0.2}));
  EXPECT_EQ(known.soft[1].variable, 0);
  EXPECT_EQ(pairs(known), (Pairs{{3, 1}}));
}

TEST_F(EvidenceText, MistakesAreNamed) {
  EXPECT_EQ(refused("xrey=yes"), "there is no variable 'xrey'; did you mean xray?");
  EXPECT_EQ(refused("xray=ye"), "variable 'xray' has no state 'ye', allowed are yes, no; did you mean yes?");
  EXPECT_EQ(refused("xray=yes,xray=no"), "variable 'xray' is observed in state 'yes' and in state 'no'");
  EXPECT_EQ(refused("xray~1"), "variable 'xray': 1 weights for 2 states");
  EXPECT_EQ(refused("xray~0,0"), "variable 'xray': all weights are 0");
  EXPECT_NE(refused("xray~-1,2").find("allowed are 0 and finite numbers from 2.23e-308 up"), std::string::npos);
  EXPECT_NE(refused("xray~inf,2").find("allowed are 0 and finite numbers from 2.23e-308 up"), std::string::npos);
  EXPECT_NE(refused("xray~nan,2"), "");
  for (const char* text :
       {"", "xray", "xray=", "=yes", "xray=yes,", "xray=yes,no", "\"xray=yes", "\"xray\"", "xray~", "~1,2"}) {
    EXPECT_NE(refused(text), "") << text;
  }
}

// A double below the normal range has fewer digits than others: 3e-324 is read as 5e-324, 1e-400 as 0, which would mean
// impossible.
TEST_F(EvidenceText, WeightsThatLoseDigitsAreRefused) {
  EXPECT_EQ(refused("xray~3e-324,0"),
            "variable 'xray': a weight is 5e-324, allowed are 0 and finite numbers from 2.23e-308 up");
  EXPECT_NE(refused("xray~1e-400,1").find("'1e-400' is no weight"), std::string::npos);
  EXPECT_NO_THROW(seen("xray~2.3e-308,0"));
  for (const char* weight : {"3e-324", "1e-400", "0.1E-310"}) {
    for (const auto& [form, extension] :
         {std::pair{"xray ~ {} 1", ".txt"}, std::pair{"xray\n~{} 1", ".csv"},
          std::pair{R"({{"xray":[1,{}]}})", ".json"}, std::pair{R"({{"xray":{{"yes":{},"no":1}}}})", ".json"},
          std::pair{R"([{{"case":"x","xray":[{},1]}}])", ".json"}}) {
      const std::string text = fmt::format(fmt::runtime(form), weight);
      EXPECT_NE(wrong(text, extension).find("allowed are 0 and finite numbers from 2.23e-308 up"), std::string::npos)
          << text << ": " << wrong(text, extension);
    }
  }
  EXPECT_EQ(cases(R"({"xray":[0e-400,1]})", ".json").size(), 1U);
}

TEST_F(EvidenceText, TextsReadBack) {
  for (const char* text :
       {"xray=yes", "\"a=b\"=?, Visit to Asia=\"a=b\", x3=0", "Visit to Asia=\"once, or\", xray~0.1,0.2"}) {
    EXPECT_EQ(observations_text(graph, seen(text)), text);
  }
}

TEST_F(EvidenceText, UaiAndLines) {
  EXPECT_EQ(pairs(cases("2 0 1 3 2\n", ".evid").at(0).observed), (Pairs{{0, 1}, {3, 2}}));
  EXPECT_EQ(pairs(cases("", "").at(0).observed), Pairs());
  const Observations lines =
      cases("\xEF\xBB\xBF# seen today\r\nxray yes\r\n\r\nVisit to Asia once, or\nx3=2\n\"a=b\" = ?\nxray ~ 1, 2\n",
            ".txt")
          .at(0)
          .observed;
  EXPECT_EQ(pairs(lines), (Pairs{{0, 0}, {1, 1}, {3, 2}, {2, 0}}));
  ASSERT_EQ(lines.soft.size(), 1U);
  EXPECT_EQ(lines.soft[0].weights, (std::vector<double>{1, 2}));
  EXPECT_EQ(wrong("xray yes\nxrey no\n", ".txt"), "e.txt:2: there is no variable 'xrey'; did you mean xray?");
  EXPECT_EQ(wrong("xray\n", ".txt"), "e.txt:1: the state of variable 'xray' is missing");
  EXPECT_EQ(wrong("xray \"yes\" no\n", ".txt"), "e.txt:1: 'no' follows the state");
  EXPECT_EQ(wrong("\"xray\" = \"yes\" no\n", ".txt"), "e.txt:1: 'no' follows the state");
}

TEST_F(EvidenceText, CsvHasACaseInEachRow) {
  const std::vector<Case> all = cases("case,xray,a=b,x3\nfirst,yes,,1\n,?,?,~1 2 3\n", ".csv");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].label, "first");
  EXPECT_EQ(pairs(all[0].observed), (Pairs{{0, 0}, {3, 1}}));
  EXPECT_EQ(pairs(all[1].observed), (Pairs{{2, 0}}));  // ? is a state of a=b, and of no other
  ASSERT_EQ(all[1].observed.soft.size(), 1U);
  EXPECT_EQ(all[1].observed.soft[0].weights, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(cases("xray\nyes\nno\n", ".csv").at(1).label, "2");
  EXPECT_EQ(wrong("xray,xrey\n", ".csv"), "e.csv:1: there is no variable 'xrey'; did you mean xray?");
  EXPECT_EQ(wrong("patient\n", ".csv"),
            "e.csv:1: there is no variable 'patient' (a column of labels is called 'case')");
  EXPECT_EQ(wrong("xray\nyes\nmaybe\n", ".csv"), "e.csv:3: variable 'xray' has no state 'maybe', allowed are yes, no");
  EXPECT_EQ(wrong("xray,x3\nyes\n", ".csv"), "e.csv:2: 1 field, the first line has 2");
  EXPECT_EQ(wrong("xray,xray\n", ".csv"), "e.csv:1: two columns are called 'xray'");
  EXPECT_EQ(wrong("", ".csv"), "e.csv: there is no line with names");
}

TEST_F(EvidenceText, JsonHasAnObjectForEachCase) {
  const std::vector<Case> all = cases(
      R"([{"case": "p1", "xray": "no", "x3": 2}, {"xray": [1, 2], "Visit to Asia": {"never": 0.5}, "a=b": null}])",
      ".json");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].label, "p1");
  EXPECT_EQ(all[1].label, "2");
  EXPECT_EQ(pairs(all[0].observed), (Pairs{{3, 2}, {0, 1}}));
  ASSERT_EQ(all[1].observed.soft.size(), 2U);
  EXPECT_EQ(all[1].observed.soft[0].weights, (std::vector<double>{0.5, 0, 0}));
  EXPECT_EQ(cases(R"({"xray": "yes"})", ".json").size(), 1U);
  EXPECT_EQ(wrong(R"({"xrey": "yes"})", ".json"), "e.json: xrey: there is no variable 'xrey'; did you mean xray?");
  EXPECT_NE(wrong(R"({"xray": true})", ".json").find("e.json: xray: allowed is a state"), std::string::npos);
  EXPECT_NE(wrong(R"({"xray": [1]})", ".json").find("1 weights for 2 states"), std::string::npos);
  EXPECT_NE(wrong(R"([1])", ".json"), "");
  EXPECT_NE(wrong(R"({"xray": )", ".json"), "");
}

TEST_F(EvidenceText, NumbersInJsonAreStatesOfThatName) {
  FactorGraph signs;
  signs.add_variable({.num_states = 2, .name = "sign", .state_names = {"-1", "1"}});
  const Names of_signs{signs};
  EXPECT_EQ(pairs(parse_cases(R"({"sign": -1})", "e", ".json", of_signs).at(0).observed), (Pairs{{0, 0}}));
  testing::expect_error(ErrorCode::kParse, "no state '18446744073709551615'",
                        [&] { parse_cases(R"({"sign": 18446744073709551615})", "e", ".json", of_signs); });
}

}  // namespace
}  // namespace treesample
