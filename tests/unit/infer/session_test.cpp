#include "treesample/infer/session.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

FactorGraph sprinkler() {
  FactorGraph graph;
  const int rain = graph.add_variable({.num_states = 2, .name = "rain", .state_names = {"no", "yes"}});
  const int grass = graph.add_variable({.num_states = 2, .name = "grass", .state_names = {"dry", "wet"}});
  graph.add_table({rain}, {std::log(0.8), std::log(0.2)});
  graph.add_table({rain, grass}, {std::log(0.9), std::log(0.1), std::log(0.2), std::log(0.8)});
  return graph;
}

TEST(Session, EvidenceIsSetAndTakenBackByName) {
  Session session((Model(sprinkler())));
  EXPECT_NEAR(session.observe("grass", "wet").marginal("rain")[1], 0.16 / 0.24, 1e-12);
  EXPECT_NEAR(session.log_z().lower, std::log(0.24), 1e-12);
  EXPECT_LE(session.log_z().lower, session.log_z().upper);
  EXPECT_EQ(session.evidence_text(), "grass=wet");
  EXPECT_NEAR(session.observe("grass", "dry").marginal("rain")[1], 0.04 / 0.76, 1e-12);
  EXPECT_NEAR(session.retract("grass").marginal("rain")[1], 0.2, 1e-12);
  EXPECT_NEAR(session.observe_soft("grass", {0.5, 0.25}).marginal("rain")[1], (0.04 * 0.5 + 0.16 * 0.25) / 0.44, 1e-12);
  EXPECT_NEAR(session.observe("rain", "yes").retract().marginal("rain")[1], 0.2, 1e-12);
  EXPECT_EQ(session.evidence_text(), "");
}

TEST(Session, ItBeginsWithTheEvidenceOfTheModel) {
  Model model(sprinkler());
  model.observe("grass", "wet");
  Session session(model);
  EXPECT_NEAR(session.marginal("rain")[1], 0.16 / 0.24, 1e-12);
  EXPECT_NEAR(session.marginal("grass")[1], 1.0, 1e-12);
}

TEST(Session, ItAgreesWithInferAlsoWhereNumbersAreTiny) {
  FactorGraph chain;
  for (int v = 0; v < 60; ++v) chain.add_variable(3);
  for (int v = 0; v + 1 < 60; ++v) {
    std::vector<double> table;
    for (int i = 0; i < 9; ++i) table.push_back(-800.0 * ((v + i) % 3) + 0.1 * i);
    chain.add_table({v, v + 1}, table);
  }
  Session session((Model(chain)));
  session.observe("x3", "1").observe("x40", "2");
  const Answer truth = infer(Model(chain, {{3, 1}, {40, 2}}), {}, {}, {.method = Method::kExact});
  EXPECT_LE(session.log_z().lower, *truth.upper);
  EXPECT_GE(session.log_z().upper, *truth.lower);
  for (int v = 0; v < 60; ++v) {
    for (int s = 0; s < 3; ++s) EXPECT_NEAR(session.marginals()[v][s], truth.marginals[v][s], 1e-9);
  }
}

TEST(Session, ImpossibleEvidenceAndMistakesAreSaid) {
  FactorGraph graph = sprinkler();
  graph.add_table({1}, {0.0, kNegInf});
  Session session((Model(graph)));
  EXPECT_EQ(session.observe("grass", "wet").log_z().upper, kNegInf);
  EXPECT_TRUE(session.marginal("rain").empty());
  EXPECT_EQ(session.retract("grass").marginal("rain").size(), 2U);
  EXPECT_THROW(session.observe("gras", "wet"), Error);
  EXPECT_THROW(session.observe("grass", "damp"), Error);
  EXPECT_THROW(session.observe_soft("grass", {1.0}), Error);
  FactorGraph with_function;
  with_function.add_variable(2);
  with_function.add_factor(Factor::function({0}, [](std::span<const int>) { return 0.0; }));
  EXPECT_THROW(Session{Model(with_function)}, Error);
}

}  // namespace
}  // namespace treesample
