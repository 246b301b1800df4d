// The formats of other tools: XDSL, NET, DSC and libDAI's .fg.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "io/dsc.hpp"
#include "io/hugin_net.hpp"
#include "io/libdai_fg.hpp"
#include "io/noisy_max.hpp"
#include "io/xdsl.hpp"
#include "support/expect_error.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/io/bif.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/model/names.hpp"

namespace treesample {
namespace {

constexpr const char* kBif = R"(network a { }
variable a { type discrete [ 2 ] { yes, no }; }
variable b { type discrete [ 3 ] { low, middle, high }; }
variable c { type discrete [ 2 ] { yes, no }; }
probability ( a ) { table 0.25, 0.75; }
probability ( b | a ) { (yes) 0.1, 0.2, 0.7; (no) 1, 0, 0; }
probability ( c | a, b ) { (yes, low) 0.5, 0.5; (yes, middle) 0.4, 0.6; (yes, high) 0.3, 0.7;
                           (no, low) 0.2, 0.8; (no, middle) 0.1, 0.9; (no, high) 0, 1; }
)";

// The same network as each tool writes it. Parents stand after their children in the XDSL file.
constexpr const char* kXdsl = R"(<?xml version="1.0" encoding="UTF-8"?>
<!-- made by hand -->
<smile version="1.0" id="a" numsamples="1000" discsamples="10000">
  <nodes>
    <cpt id="c"><state id="yes" /><state id="no" target="true" /><parents>a b</parents>
      <probabilities>0.5 0.5 0.4 0.6 0.3 0.7 0.2 0.8 0.1 0.9 0 1</probabilities></cpt>
    <cpt id="a"><state id="yes" /><state id="no" /><probabilities>0.25 0.75</probabilities>
      <property id="note">a &amp; b</property></cpt>
    <cpt id="b"><state id="low" /><state id="middle" /><state id="high" /><parents>a</parents>
      <probabilities>0.1 0.2 0.7
                     1 0 0</probabilities></cpt>
  </nodes>
  <extensions><genie version="1.0"><node id="a"><name>A</name><position>1 2 3 4</position></node></genie></extensions>
</smile>
)";

constexpr const char* kNet = R"(% made by hand
net { node_size = (80 40); name = "a; { % in a string"; }
node a { label = "A \"quoted\""; position = (1 2); states = ("yes" "no"); }
discrete node b { states = ( "low" "middle" "high" ); }
node c { states = ("yes" "no"); }
potential (a) { data = ( 0.25 0.75 ); }
potential (b | a) { data = (( 0.1 0.2 0.7 ) % yes
                            ( 1 0 0 )); }
potential (c | a b) { data = (((0.5 0.5)(0.4 0.6)(0.3 0.7))((0.2 0.8)(0.1 0.9)(0 1))); experience = (1 1); }
)";

constexpr const char* kDsc = R"(belief network "a"
node a { name: "A"; type : discrete [ 2 ] = { "yes", "no" }; position : (1, 2); }
node b { type: discrete[3] = { "low", "middle", "high" }; }
node c { type: discrete[2] = { "yes", "no" }; }
probability ( a ) { 0.25, 0.75; }
probability ( b | a ) { ("yes") : 0.1, 0.2, 0.7; default : 1, 0, 0; }
probability ( c | a, b ) { (0, 0) : 0.5, 0.5; (0, 1) : 0.4, 0.6; (0, 2) : 0.3, 0.7; // rows
                           (1, 0) : 0.2, 0.8; (1, 1) : 0.1, 0.9; (1, 2) : 0, 1; }
)";

void expect_same_model(const FactorGraph& found, const FactorGraph& expected) {
  ASSERT_EQ(found.num_variables(), expected.num_variables());
  ASSERT_EQ(found.num_factors(), expected.num_factors());
  const Names names(found);
  std::vector<int> index;  // in `found`
  for (int v = 0; v < expected.num_variables(); ++v) {
    index.push_back(names.variable(expected.variable(v).name));
    EXPECT_EQ(found.variable(index.back()).state_names, expected.variable(v).state_names);
  }
  std::vector<int> states(static_cast<std::size_t>(expected.num_variables()), 0);
  std::vector<int> translated = states;
  for (bool is_over = false; !is_over;) {
    for (std::size_t v = 0; v < states.size(); ++v) translated[index[v]] = states[v];
    const double value = expected.log_density(states);
    if (std::isinf(value)) {
      EXPECT_EQ(found.log_density(translated), value);
    } else {
      EXPECT_NEAR(found.log_density(translated), value, 1e-12);
    }
    is_over = true;
    for (std::size_t v = states.size(); v-- > 0 && is_over;) {
      is_over = ++states[v] == expected.num_states(static_cast<int>(v));
      if (is_over) states[v] = 0;
    }
  }
}

TEST(NetworkFormats, TheSameNetworkInAllOfThem) {
  const FactorGraph expected = parse_bif(kBif, "a.bif");
  expect_same_model(parse_xdsl(kXdsl, "a.xdsl"), expected);
  expect_same_model(parse_hugin_net(kNet, "a.net"), expected);
  expect_same_model(parse_dsc(kDsc, "a.dsc"), expected);
}

TEST(NetworkFormats, WhatIsWrittenReadsBackAsTheSame) {
  const FactorGraph expected = parse_bif(kBif, "a.bif");
  for (const char* name : {"a.xdsl", "a.net", "a.dsc"}) {
    SCOPED_TRACE(name);
    const std::string text = format_model(expected, name);
    const FactorGraph read = parse_model(text, std::string(name).substr(1), name);
    expect_same_model(read, expected);
    EXPECT_EQ(extension_of_text(text), std::string(name).substr(1));
  }
  const FactorGraph bare = parse_model(format_model(expected, "a.fg"), ".fg", "a.fg");
  EXPECT_EQ(format_model(bare, "b.uai"), [&] {
    std::string text = format_model(expected, "a.uai");
    return text.replace(0, text.find('\n'),
                        format_model(bare, "b.uai").substr(0, format_model(bare, "b.uai").find('\n')));
  }());
}

TEST(NetworkFormats, NamesThatAreNoIdentifiersAreReplacedAndStayDifferent) {
  FactorGraph graph;
  graph.add_variable({.num_states = 2, .name = "a b", .state_names = {"<5", ">5"}});
  graph.add_variable({.num_states = 2, .name = "a-b", .state_names = {"1", "x"}});
  graph.add_table({0}, {std::log(0.5), std::log(0.5)});
  graph.add_table({0, 1}, {0.0, -INFINITY, std::log(0.5), std::log(0.5)});
  const FactorGraph read = parse_xdsl(format_xdsl(graph), "x.xdsl");
  EXPECT_EQ(read.variable(0).name, "a_b");
  EXPECT_EQ(read.variable(1).name, "a_b_2");
  EXPECT_EQ(read.variable(0).state_names, (std::vector<std::string>{"_5", "_5_2"}));
  EXPECT_EQ(read.variable(1).state_names, (std::vector<std::string>{"s1", "x"}));
  EXPECT_EQ(parse_hugin_net(format_hugin_net(graph), "x.net").variable(0).state_names,
            (std::vector<std::string>{"<5", ">5"}));
}

TEST(NetworkFormats, DeterministicNodesAndNoisyMaximaOfXdsl) {
  const FactorGraph graph = parse_xdsl(R"(<smile version="1.0"><nodes>
<cpt id="a"><state id="y"/><state id="n"/><probabilities>0.3 0.7</probabilities></cpt>
<cpt id="b"><state id="y"/><state id="n"/><probabilities>0.6 0.4</probabilities></cpt>
<deterministic id="or"><state id="y"/><state id="n"/><parents>a b</parents>
<resultingstates>y y y n</resultingstates></deterministic>
<noisymax id="e"><state id="y"/><state id="n"/><parents>a b</parents><strengths>0 1 0 1</strengths>
<parameters>0.8 0.2 0 1 0.5 0.5 0 1 0.1 0.9</parameters></noisymax>
</nodes></smile>)",
                                       "x.xdsl");
  EXPECT_EQ(graph.factor(2).log_values()[4], 0.0);
  EXPECT_EQ(graph.factor(2).log_values()[7], 0.0);
  EXPECT_TRUE(std::isinf(graph.factor(2).log_values()[5]));
  // Noisy-OR: the effect is absent if no cause that is there produces it, nor the leak.
  const auto noisy = graph.factor(3).log_values();
  EXPECT_NEAR(std::exp(noisy[1]), 0.2 * 0.5 * 0.9, 1e-15);
  EXPECT_NEAR(std::exp(noisy[3]), 0.2 * 0.9, 1e-15);
  EXPECT_NEAR(std::exp(noisy[5]), 0.5 * 0.9, 1e-15);
  EXPECT_NEAR(std::exp(noisy[7]), 0.9, 1e-15);
  EXPECT_NEAR(std::exp(noisy[0]) + std::exp(noisy[1]), 1.0, 1e-15);
}

// The definition: causes act independently, and the strongest degree wins. Every combination of their degrees is
// summed.
TEST(NetworkFormats, ANoisyMaximumIsTheSumOverTheDegreesOfItsCauses) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const std::vector<int> parents = {2, 3};
  const int degrees = 3;
  NoisyMax noisy{.num_states = degrees, .parent_states = parents};
  for (int column = 0; column < 2 + 3 + 1; ++column) {
    std::vector<double> law;
    double sum = 0.0;
    for (int k = 0; k < degrees; ++k) sum += law.emplace_back(uniform(random));
    for (const double p : law) noisy.log_columns.push_back(std::log(p / sum));
  }
  const std::vector<double> table = noisy_max_table(noisy);
  const auto chance = [&](int column, int degree) { return std::exp(noisy.log_columns[column * degrees + degree]); };
  for (int x = 0; x < 2; ++x) {
    for (int y = 0; y < 3; ++y) {
      std::vector<double> expected(degrees, 0.0);
      for (int i = 0; i < degrees * degrees * degrees; ++i) {
        const int a = i / 9, b = i / 3 % 3, leak = i % 3;
        expected[std::min({a, b, leak})] += chance(x, a) * chance(2 + y, b) * chance(5, leak);
      }
      for (int k = 0; k < degrees; ++k) {
        EXPECT_NEAR(std::exp(table[(x * 3 + y) * degrees + k]), expected[k], 1e-15);
      }
    }
  }
}

TEST(NetworkFormats, ATinyChanceOfANoisyOrIsNotLost) {
  const std::vector<double> columns = {std::log(1e-30), 0.0, -INFINITY, 0.0, -INFINITY, 0.0};
  const std::vector<double> table = noisy_max_table({.num_states = 2, .parent_states = {2}, .log_columns = columns});
  EXPECT_NEAR(table[0], std::log(1e-30), 1e-12);
  EXPECT_TRUE(std::isinf(table[2]));
}

TEST(NetworkFormats, ReadsAFactorGraphOfLibDai) {
  const FactorGraph graph = parse_libdai_fg(R"(# two factors
2

2
7 3    # labels
2 3
2
1 0.5
4 2.5

0


1
0 3
)",
                                            "x.fg");
  ASSERT_EQ(graph.num_variables(), 2);
  EXPECT_EQ(graph.variable(0).name, "x3");
  EXPECT_EQ(graph.num_states(0), 3);
  // Entry 1 is x7 = 1, x3 = 0; entry 4 is x7 = 0, x3 = 2.
  EXPECT_NEAR(graph.log_density(std::vector<int>{0, 1}), std::log(0.5 * 3), 1e-15);
  EXPECT_NEAR(graph.log_density(std::vector<int>{2, 0}), std::log(2.5 * 3), 1e-15);
  EXPECT_TRUE(std::isinf(graph.log_density(std::vector<int>{0, 0})));
}

// Texts that are cut off, or changed in some bytes: read or refused with a line, and nothing else.
TEST(NetworkFormats, DamagedTextsAreReadOrRefused) {
  const std::string fg = format_libdai_fg(parse_bif(kBif, "a.bif"));
  const std::pair<const char*, std::string> samples[] = {{".xdsl", kXdsl}, {".net", kNet}, {".dsc", kDsc}, {".fg", fg}};
  std::mt19937 random(1);
  const std::string_view bytes = "(){}[]<>=;:,|\"%/#0159eE.-x \n\\";
  int num_refused = 0;
  const auto replay = [&](const char* extension, const std::string& text) {
    try {
      parse_model(text, extension, "damaged");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kParse) << error.what();
      EXPECT_TRUE(std::string_view(error.what()).starts_with("damaged:")) << error.what();
      ++num_refused;
    }
  };
  for (const auto& [extension, text] : samples) {
    for (std::size_t size = 0; size < text.size(); size += 3) replay(extension, text.substr(0, size));
    for (int i = 0; i < 2000; ++i) {
      std::string changed = text;
      for (int k = 0; k < 1 + i % 3; ++k) changed[random() % changed.size()] = bytes[random() % bytes.size()];
      replay(extension, changed);
    }
  }
  EXPECT_GT(num_refused, 4000);
}

TEST(NetworkFormats, MistakesAreNamedWithTheirLine) {
  const auto xdsl = [](const std::string& nodes) {
    return testing::message_of(ErrorCode::kParse,
                               [&] { parse_xdsl("<smile>\n<nodes>" + nodes + "</nodes></smile>", "x.xdsl"); });
  };
  const std::string a = "<cpt id=\"a\"><state id=\"y\"/><state id=\"n\"/>";
  EXPECT_EQ(xdsl(""), "x.xdsl:2: the network has no variables");
  EXPECT_EQ(xdsl(a + "</cpt>"), "x.xdsl:2: variable 'a' has no <probabilities>");
  EXPECT_EQ(xdsl(a + "<probabilities>1 0 1</probabilities></cpt>"),
            "x.xdsl:2: the table of variable 'a' has 3 entries, expected 2");
  EXPECT_EQ(xdsl(a + "<probabilities>1 -1</probabilities></cpt>"),
            "x.xdsl:2: expected a finite number of at least 0, found '-1'");
  EXPECT_EQ(xdsl(a + "<parents>b</parents><probabilities>1 0</probabilities></cpt>"),
            "x.xdsl:2: expected the name of a variable, found 'b'");
  EXPECT_EQ(xdsl(a + "<parents>a</parents><probabilities>1 0 0 1</probabilities></cpt>"),
            "x.xdsl:2: the table of variable 'a': FactorGraph::add_factor: variable 0 is twice in the scope");
  EXPECT_EQ(
      xdsl("<utility id=\"u\"/>"),
      "x.xdsl:2: expected <cpt>, <deterministic> or <noisymax> (treesample decide reads decisions), found <utility>");

  const auto net = [](const std::string& text) {
    return testing::message_of(ErrorCode::kParse, [&] { parse_hugin_net(text, "x.net"); });
  };
  const std::string node = "node a { states = (\"y\" \"n\"); }\n";
  EXPECT_EQ(net(""), "x.net:1: the network has no variables");
  EXPECT_EQ(net(node), "x.net:2: variable 'a' has no table");
  EXPECT_EQ(net(node + node), "x.net:2: variable 'a' is declared twice");
  EXPECT_EQ(net(node + "potential (a) { data = (1 0 0); }"), "x.net:2: expected ';' after 2 numbers, found '0'");
  EXPECT_EQ(net(node + "potential (a) { data = (1); }"), "x.net:2: the data of variable 'a' has 1 numbers, expected 2");
  EXPECT_EQ(net(node + "potential (a) { model_data = (Poisson(1)); }"),
            "x.net:2: expected 'data': a formula is not read, found 'model_data'");
  EXPECT_EQ(net("decision d { }"), "x.net:1: expected only discrete nodes and their potentials, found 'decision'");
  EXPECT_EQ(net("net { name = \"a }"), "x.net:1: a quote is not closed");

  const auto dsc = [](const std::string& text) {
    return testing::message_of(ErrorCode::kParse, [&] { parse_dsc("belief network\n" + text, "x.dsc"); });
  };
  const std::string two = "node a { type : discrete [ 2 ] = { \"y\", \"n\" }; }\n";
  EXPECT_EQ(dsc("node a { type : discrete [ 3 ] = { \"y\", \"n\" }; }"),
            "x.dsc:2: expected 2, the number of the states that are named, found '3'");
  EXPECT_EQ(dsc(two + "probability (a) { }"), "x.dsc:3: the table of variable 'a' has no row 1 of 1 and no default");
  EXPECT_EQ(dsc(two + "probability (a) { 1, 0; 1, 0; }"), "x.dsc:3: this row is given twice");

  const auto fg = [](const std::string& text) {
    return testing::message_of(ErrorCode::kParse, [&] { parse_libdai_fg(text, "x.fg"); });
  };
  EXPECT_EQ(fg("x"), "x.fg:1: expected the number of factors from 0 to 1, found 'x'");
  EXPECT_EQ(fg("1\n1\n0\n2\n1\n2 1\n"), "x.fg:6: expected the number of an entry from 0 to 1, found '2'");
  EXPECT_EQ(fg("1\n1\n0\n2\n2\n0 1\n0 1\n"),
            "x.fg:7: expected the number of another entry: this one is given twice, found '0'");
  EXPECT_EQ(fg("1\n1\n0\n2\n0\n5"), "x.fg:6: expected nothing after the last factor, found '5'");
}

// Readers refuse a network without variables, so that none is written.
TEST(NetworkFormats, ANetworkHasVariables) {
  for (const char* name : {"a.bif", "a.xmlbif", "a.xdsl", "a.net", "a.dsc"}) {
    testing::expect_error(ErrorCode::kArgument, [&] { format_model(FactorGraph(), name); });
  }
}

}  // namespace
}  // namespace treesample
