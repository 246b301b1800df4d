#include "treesample/io/xmlbif.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.hpp"
#include "treesample/error.hpp"
#include "treesample/io/bif.hpp"
#include "treesample/io/model_file.hpp"

namespace treesample {
namespace {

constexpr const char* kHead = R"(<?xml version="1.0"?>
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> <!ELEMENT PROPERTY (#PCDATA)> ]>
<BIF VERSION="0.3" xmlns="http://www.cs.ubc.ca/labs/lci/fopi/ve/XMLBIFv0_3">
<!-- a comment with <tags> -->
<NETWORK><NAME>test</NAME>
<VARIABLE TYPE="nature"><NAME>a &amp; b</NAME><OUTCOME>yes</OUTCOME><OUTCOME>&#110;&#x6F;</OUTCOME>
<PROPERTY>position = (1, 2)</PROPERTY></VARIABLE>
<variable><name>c</name><outcome>u</outcome><outcome>v</outcome><outcome>w</outcome></variable>
)";
const std::string kGood =
    std::string(kHead) +
    "<DEFINITION><FOR>a &amp; b</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>\n"
    "<DEFINITION><FOR>c</FOR><GIVEN>a &amp; b</GIVEN><TABLE>0.1 0.2 <!-- no --> 0.7 \n 1 0 0</TABLE>"
    "</DEFINITION></NETWORK></BIF>";

TEST(XmlBif, ReadsANetwork) {
  const FactorGraph graph = parse_xmlbif(kGood, "n.xml");
  ASSERT_EQ(graph.num_variables(), 2);
  EXPECT_EQ(graph.variable(0).name, "a & b");
  EXPECT_EQ(graph.variable(0).state_names, (std::vector<std::string>{"yes", "no"}));
  ASSERT_EQ(graph.num_factors(), 2);
  EXPECT_EQ(graph.factor(1).scope(), (std::vector<int>{0, 1}));
  EXPECT_EQ(graph.factor(1).log_values()[2], std::log(0.7));
  EXPECT_EQ(graph.factor(1).log_values()[3], 0.0);
}

TEST(XmlBif, WhatIsWrittenReadsBackAsTheSame) {
  const FactorGraph graph = parse_xmlbif(kGood, "n.xml");
  const std::string text = format_xmlbif(graph);
  EXPECT_EQ(format_xmlbif(parse_xmlbif(text, "again")), text);
  const std::string bif = format_bif(graph);
  EXPECT_EQ(format_xmlbif(parse_bif(bif, "n.bif")), text);
  EXPECT_EQ(format_bif(parse_bif(bif, "n.bif")), bif);
}

TEST(XmlBif, MistakesAreNamedWithTheirLine) {
  const auto refused = [](const std::string& text) {
    return testing::message_of(ErrorCode::kParse, [&] { parse_xmlbif(text, "n.xml"); });
  };
  const std::string head = kHead;
  EXPECT_EQ(refused(""), "n.xml:1: expected <BIF>, found the end of the file");
  EXPECT_EQ(refused("<html>"), "n.xml:1: expected <BIF>, found <HTML>");
  EXPECT_EQ(refused(head + "</NETWORK></BIF>"), "n.xml:9: variable 'a & b' has no <DEFINITION>");
  EXPECT_EQ(refused(head + "<DEFINITION><FOR>d</FOR>"), "n.xml:9: expected the name of a <VARIABLE> above, found 'd'");
  EXPECT_NE(refused(head + "<DEFINITION><FOR>c</FOR><TABLE>0.1 x</TABLE></DEFINITION>").find("found 'x'"),
            std::string::npos);
  EXPECT_NE(refused(head + "<DEFINITION><FOR>c</FOR><TABLE>0.1 0.9</TABLE></DEFINITION>").find("its scope needs 3"),
            std::string::npos);
  EXPECT_NE(refused(head + "<DEFINITION><FOR>c</FOR></DEFINITION>").find("needs <FOR> and <TABLE>"), std::string::npos);
  EXPECT_NE(refused(head + "<VARIABLE><NAME>c</NAME><OUTCOME>1</OUTCOME></VARIABLE>").find("declared twice"),
            std::string::npos);
  EXPECT_NE(refused(head + "<VARIABLE><NAME>d</NAME></VARIABLE>").find("0 outcomes"), std::string::npos);
  for (std::size_t length = 0; length < kGood.size(); ++length)
    EXPECT_NE(refused(kGood.substr(0, length)), "") << length;
  EXPECT_NE(refused("<BIF><NETWORK><NAME>&nope;</NAME>"), "");
  EXPECT_EQ(refused(kGood + "\n<BIF>"), "n.xml:12: expected nothing after </BIF>, found <BIF>");
  EXPECT_EQ(parse_xmlbif(kGood + "\n<!-- end -->\n", "n.xml").num_variables(), 2);
  for (const char* type : {"type='utility'", "x=\"a>b\" TYPE = \"utility\"", "\nType=\"utility\"/"}) {
    EXPECT_EQ(refused(head + "<VARIABLE " + type + ">"),
              "n.xml:9: a <VARIABLE> is of the type utility, allowed is nature; treesample decide reads decisions");
  }
  EXPECT_NE(refused("<BIF a=\"<\"><NETWORK><![CDATA[x]]>"), "");
}

TEST(XmlBif, OnlyNetworksAreWritten) {
  FactorGraph graph;
  graph.add_variable(2);
  EXPECT_THROW(format_xmlbif(graph), Error);
  EXPECT_THROW(format_bif(graph), Error);
  graph.add_table({0}, {0.0, 0.0});
  EXPECT_NO_THROW(format_bif(graph));
  FactorGraph quoted;
  quoted.add_variable({.num_states = 1, .name = "say \"a\"", .state_names = {"s"}});
  quoted.add_table({0}, {0.0});
  EXPECT_THROW(format_bif(quoted), Error);
  EXPECT_EQ(parse_xmlbif(format_xmlbif(quoted), "q").variable(0).name, "say \"a\"");
}

TEST(ModelFormats, EveryOneHoldsTheBundledNetwork) {
  const FactorGraph graph = read_model(TREESAMPLE_SOURCE_DIR "/examples/models/asia.bif");
  for (const char* name : {"a.bif", "a.xmlbif", "a.json", "a.uai"}) {
    const std::string text = format_model(graph, name);
    const std::string extension = std::string(name).substr(1);
    const FactorGraph again = parse_model(text, extension, name);
    EXPECT_EQ(format_model(again, name), text) << name;
    ASSERT_EQ(again.num_factors(), graph.num_factors()) << name;
    for (int m = 0; m < graph.num_factors(); ++m) {
      EXPECT_EQ(again.factor(m).scope(), graph.factor(m).scope()) << name;
      for (std::size_t i = 0; i < graph.factor(m).log_values().size(); ++i) {
        const double value = graph.factor(m).log_values()[i];
        if (std::isinf(value)) {
          EXPECT_EQ(again.factor(m).log_values()[i], value) << name;
        } else {
          EXPECT_NEAR(again.factor(m).log_values()[i], value, 1e-15) << name;
        }
      }
    }
    if (extension != ".uai") {
      EXPECT_EQ(again.variable(3).name, "lung") << name;
    }
  }
  EXPECT_EQ(format_model(graph, "a.uai").rfind("BAYES", 0), 0U);
}

}  // namespace
}  // namespace treesample
