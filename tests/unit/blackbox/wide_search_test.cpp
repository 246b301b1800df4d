#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "treesample/blackbox/black_box.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// A chain of tables, hidden in one function of all variables.
struct Hidden {
  Hidden(int width, int num_states, std::uint64_t seed) {
    Random random(seed);
    std::vector<int> scope;
    for (int v = 0; v < width; ++v) {
      scope.push_back(model.add_variable(num_states));
      graph.add_variable(num_states);
    }
    for (int v = 0; v + 1 < width; ++v) {
      std::vector<double> values(static_cast<std::size_t>(num_states * num_states));
      for (double& value : values) value = 1.5 * random.normal();
      model.add_table({v, v + 1}, values);
    }
    graph.add_factor(Factor::function(scope, [this](std::span<const int> x) { return model.log_density(x); }));
  }
  FactorGraph model, graph;
};

void spend(BlackBox& box, const FactorGraph& model, int calls, int batch = 1) {
  for (int i = 0; i < calls; i += batch) {
    for (const Assignment& x : box.ask(std::min(batch, calls - i))) box.tell(x, model.log_density(x));
  }
}

double kl(const Approximation& approximation, const FactorGraph& model) {
  const double log_z = Elimination(model).log_z();
  Random random(1);
  double sum = 0.0;
  constexpr int kSamples = 1000;
  for (int i = 0; i < kSamples; ++i) {
    const Assignment x = approximation.sample(random);
    sum += (approximation.log_prob(x) - model.log_density(x) + log_z) / kSamples;
  }
  return sum;
}

TEST(WideSearch, PXIsNormalisedAndTrueWhereItWasTold) {
  const Hidden hidden(7, 3, 3);
  BlackBox box(hidden.graph, {.seed = 2, .most_enumerated = 0});
  spend(box, hidden.model, 90);
  const BlackBoxAnswer answer = box.answer();
  double sum = 0.0;
  std::vector<std::vector<double>> marginals(7, std::vector<double>(3, 0.0));
  Assignment x(7, 0);
  for (int i = 0; i < 2187; ++i) {
    const double p = std::exp(answer.approximation->log_prob(x));
    sum += p;
    for (std::size_t v = 0; v < 7; ++v) marginals[v][static_cast<std::size_t>(x[v])] += p;
    for (std::size_t v = 7; v-- > 0;) {
      if (++x[v] < 3) break;
      x[v] = 0;
    }
  }
  EXPECT_NEAR(sum, 1.0, 1e-9);
  for (std::size_t v = 0; v < 7; ++v) {
    for (std::size_t a = 0; a < 3; ++a) EXPECT_NEAR(answer.marginals[v][a], marginals[v][a], 1e-9);
  }
  for (const ToldValue& told : box.told())
    EXPECT_NEAR(answer.approximation->log_prob(told.states) + answer.log_z, *told.value, 1e-9);
}

TEST(WideSearch, EverythingToldIsExact) {
  const Hidden hidden(5, 2, 4);
  BlackBox box(hidden.graph, {.looks_for_noise = false, .most_enumerated = 0});
  std::set<Assignment> asked;
  for (std::vector<Assignment> next = box.ask(3); !next.empty(); next = box.ask(3)) {
    for (const Assignment& x : next) {
      EXPECT_TRUE(asked.insert(x).second);
      box.tell(x, hidden.model.log_density(x));
    }
  }
  EXPECT_EQ(asked.size(), 32U);
  const BlackBoxAnswer answer = box.answer();
  EXPECT_TRUE(answer.is_exact);
  EXPECT_NEAR(answer.log_z, enumerate(hidden.model).log_z, 1e-10);
  EXPECT_LE(answer.log_lower, answer.log_z);
  EXPECT_GE(answer.log_upper, answer.log_z);
}

TEST(WideSearch, ComesCloseToAChainInAFunctionAndSaysHowClose) {
  const Hidden hidden(21, 2, 5);
  BlackBox box(hidden.graph, {.seed = 1});
  spend(box, hidden.model, 270);
  for (const Assignment& x : box.ask_check(60)) box.tell(x, hidden.model.log_density(x));
  const BlackBoxAnswer answer = box.answer();
  const double log_z = Elimination(hidden.model).log_z();
  EXPECT_LT(std::abs(kl(*answer.approximation, hidden.model)), 0.3);
  EXPECT_NEAR(answer.log_z, log_z, 0.3);
  ASSERT_TRUE(answer.errors);
  EXPECT_GT(answer.errors->num_samples, 50);
  if (answer.errors->no_error.empty()) {
    EXPECT_LT(answer.errors->std_error, 0.5);
  }
  EXPECT_LT(answer.log_lower, log_z);
  EXPECT_EQ(answer.log_upper, HUGE_VAL);
}

// Half of the mass is where one rule of six variables holds, which no pair of variables tells.
TEST(WideSearch, WhatNoTermExplainsIsFoundOnTheSurrogate) {
  const auto value = [](std::span<const int> x) {
    double sum = 0.0;
    for (std::size_t v = 0; v < x.size(); ++v) sum -= 1.2 * std::abs(x[v] - static_cast<int>(v % 3));
    return sum + (x[0] == 0 && x[1] == 1 && x[2] == 2 && x[3] == 0 && x[4] == 1 ? 3.0 : 0.0);
  };
  FactorGraph graph;
  std::vector<int> scope;
  for (int v = 0; v < 14; ++v) scope.push_back(graph.add_variable(3));
  graph.add_factor(Factor::function(scope, value));
  BlackBox box(graph, {.seed = 3});
  for (int i = 0; i < 400; ++i) {
    for (const Assignment& x : box.ask(1)) box.tell(x, value(x));
  }
  const BlackBoxAnswer answer = box.answer();
  // By hand: the sum over five variables where the rule holds and where it does not, and over the other nine.
  double with = 1.0, all = 1.0, others = 1.0;
  for (int v = 0; v < 14; ++v) {
    double own = 0.0;
    for (int a = 0; a < 3; ++a) own += std::exp(-1.2 * std::abs(a - v % 3));
    (v < 5 ? all : others) *= own;
  }
  const double log_z = std::log((all - with + with * std::exp(3.0)) * others);
  EXPECT_NEAR(answer.log_z, log_z, 0.15);
}

TEST(WideSearch, WhatTablesForbidIsNeverAsked) {
  FactorGraph graph;
  std::vector<int> scope;
  for (int v = 0; v < 12; ++v) scope.push_back(graph.add_variable(4));
  for (int v = 0; v + 1 < 12; ++v) {
    std::vector<double> differ(16, 0.0);
    for (std::size_t a = 0; a < 4; ++a) differ[5 * a] = kNegInf;
    graph.add_table({v, v + 1}, differ);
  }
  graph.add_factor(Factor::function(scope, [](std::span<const int> x) { return 0.3 * x[0] * x[5]; }));
  BlackBox box(graph, {.seed = 5});
  for (int i = 0; i < 30; ++i) {
    for (const Assignment& x : box.ask(5)) {
      EXPECT_NE(graph.log_density(x), kNegInf);
      box.tell(x, 0.3 * x[0] * x[5]);
    }
  }
  Random random(1);
  const BlackBoxAnswer answer = box.answer();
  for (int i = 0; i < 100; ++i) EXPECT_NE(graph.log_density(answer.approximation->sample(random)), kNegInf);
}

TEST(WideSearch, SeveralFunctionsAreLearnedOverTheirOwnScopes) {
  const Hidden hidden(24, 2, 7);
  FactorGraph graph;
  for (int v = 0; v < 24; ++v) graph.add_variable(2);
  for (int m = 0; m < hidden.model.num_factors(); m += 8) {
    std::vector<int> scope;
    for (int v = m; v <= std::min(m + 8, 23); ++v) scope.push_back(v);
    graph.add_factor(Factor::function(scope, [&hidden, m](std::span<const int> x) {
      double sum = 0.0;
      for (std::size_t i = 0; i + 1 < x.size(); ++i)
        sum += hidden.model.factor(m + static_cast<int>(i)).log_values()[static_cast<std::size_t>(2 * x[i] + x[i + 1])];
      return sum;
    }));
  }
  BlackBox box(graph, {.seed = 2});
  for (int i = 0; i < 250; ++i) {
    for (const Assignment& x : box.ask(1)) {
      for (int m = 0; m < graph.num_factors(); ++m) {
        std::vector<int> states;
        for (const int v : graph.factor(m).scope()) states.push_back(x[static_cast<std::size_t>(v)]);
        box.tell_function(m, states, graph.factor(m).function()(states));
      }
      box.tell_done(x);
    }
  }
  EXPECT_LT(std::abs(kl(*box.answer().approximation, hidden.model)), 0.02);
}

TEST(WideSearch, ASavedBoxGoesOnWithTheSameBits) {
  const Hidden hidden(22, 2, 8);
  BlackBox box(hidden.graph, {.seed = 4});
  spend(box, hidden.model, 80, 5);
  BlackBox again(hidden.graph, {.seed = 4});
  again.load(box.save());
  EXPECT_EQ(box.ask(12), again.ask(12));
  EXPECT_EQ(box.answer().log_z, again.answer().log_z);
}

TEST(WideSearch, FailuresAreLearnedAndHaveNoMass) {
  FactorGraph graph;
  std::vector<int> scope;
  for (int v = 0; v < 22; ++v) scope.push_back(graph.add_variable(2));
  const auto value = [](std::span<const int> x) {
    double sum = 0.0;
    for (std::size_t v = 0; v < x.size(); ++v) sum -= 0.8 * x[v];
    return sum;
  };
  graph.add_factor(Factor::function(scope, value));
  BlackBox box(graph, {.seed = 6});
  std::vector<Assignment> failed;
  for (int i = 0; i < 200; ++i) {
    for (const Assignment& x : box.ask(1)) {
      if (x[0] == 1) {
        box.tell_failed(x, "diverged");
        failed.push_back(x);
      } else {
        box.tell(x, value(x));
      }
    }
  }
  const BlackBoxAnswer answer = box.answer();
  ASSERT_FALSE(failed.empty());
  for (const Assignment& x : failed) EXPECT_EQ(answer.approximation->log_prob(x), kNegInf);
  EXPECT_LT(static_cast<double>(failed.size()), 60.0);
  EXPECT_LT(answer.marginals[0][1], 0.15);
}

TEST(WideSearch, NoisyValuesCertifyNothing) {
  const Hidden hidden(21, 2, 9);
  Random noise(1);
  BlackBox box(hidden.graph, {.seed = 1});
  for (int i = 0; i < 150; ++i) {
    for (const Assignment& x : box.ask(1)) box.tell(x, hidden.model.log_density(x) + 0.5 * noise.normal());
  }
  const BlackBoxAnswer answer = box.answer();
  EXPECT_TRUE(answer.noise.is_there);
  EXPECT_EQ(answer.log_lower, kNegInf);
  EXPECT_EQ(answer.log_upper, HUGE_VAL);
  EXPECT_FALSE(answer.is_exact);
}

TEST(WideSearch, AHundredVariablesWithManyStates) {
  FactorGraph graph;
  std::vector<int> scope;
  for (int v = 0; v < 100; ++v) scope.push_back(graph.add_variable(16));
  const auto value = [](std::span<const int> x) {
    double sum = 0.0;
    for (std::size_t v = 0; v < x.size(); ++v) sum -= 0.1 * (x[v] % 4);
    return sum;
  };
  graph.add_factor(Factor::function(scope, value));
  BlackBox box(graph, {.seed = 1});
  for (int i = 0; i < 12; ++i) {
    for (const Assignment& x : box.ask(10)) box.tell(x, value(x));
  }
  EXPECT_TRUE(std::isfinite(box.answer().log_z));
}

}  // namespace
}  // namespace treesample
