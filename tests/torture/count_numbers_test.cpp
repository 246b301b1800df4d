// Bounds of count() against enumeration with 113 bits: all magnitudes, solved and stopped.
#include <gtest/gtest.h>

#include <cmath>

#include "support/random_models.hpp"
#include "torture/torture.hpp"
#include "treesample/count/count.hpp"

namespace treesample {
namespace {

using testing::below;
using testing::num_trials;
using testing::Quad;
using testing::torture_model;
using testing::TortureModel;

void expect_contains(const CountResult& result, const TortureModel& model) {
  EXPECT_LE(static_cast<Quad>(result.report.log_z.lower), model.least());
  EXPECT_GE(static_cast<Quad>(result.report.log_z.upper), model.most());
  EXPECT_FALSE(std::isnan(result.report.log_z.lower) || std::isnan(result.report.log_z.upper));
}

TEST(CountNumbers, BoundsHoldForAllMagnitudes) {
  int num_exact = 0;
  const int num = num_trials(4000);
  for (int trial = 0; trial < num; ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "count numbers");
    const TortureModel model = torture_model(random, {.has_functions = false});
    SCOPED_TRACE(model.text);
    CountOptions options{.has_cache = trial % 3 != 0,
                         .has_learning = trial % 5 != 0,
                         .has_reductions = trial % 2 != 0,
                         .most_eliminated_entries = trial % 8 == 0 ? 1e6 : 0.0};
    const CountResult solved = count(model.graph, {}, options);
    expect_contains(solved, model);
    num_exact += solved.report.log_z.is_exact() ? 1 : 0;
    options.most_decisions = below(random, 10);
    expect_contains(count(model.graph, {}, options), model);
    if (HasFailure()) return;
  }
  EXPECT_GT(num_exact, num * 3 / 4);
}

// Numbers of e^+-400 to e^+-10,000 in one product and one sum, and their rounding in long chains.
TEST(CountNumbers, BoundsOfLongChainsAreTightAndHold) {
  for (int trial = 0; trial < num_trials(20); ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "count chain");
    const double scale = std::pow(10.0, 4.0 * random.uniform());
    const int num_variables = 200;
    FactorGraph graph = testing::variables(num_variables, 2);
    std::vector<Quad> sums{0, 0};  // logarithms, by the state of the last variable
    for (int v = 1; v < num_variables; ++v) {
      std::vector<double> values(4);
      for (double& value : values) value = random.uniform() < 0.2 ? kNegInf : scale * random.normal();
      if (values[0] == kNegInf && values[3] == kNegInf) values[0] = values[3] = 400.0;
      graph.add_table({v - 1, v}, values);
      std::vector<Quad> next;
      for (int s = 0; s < 2; ++s) {
        const auto term = [&](int from) {
          return values[2 * from + s] == kNegInf ? -HUGE_VALQ : sums[from] + static_cast<Quad>(values[2 * from + s]);
        };
        next.push_back(testing::quad_log_sum_exp({term(0), term(1)}));
      }
      sums = next;
    }
    const Quad log_z = testing::quad_log_sum_exp(sums);
    for (const bool has_reductions : {false, true}) {
      const CountResult result = count(graph, {}, {.has_reductions = has_reductions, .most_eliminated_entries = 0});
      EXPECT_LE(static_cast<Quad>(result.report.log_z.lower), log_z);
      EXPECT_GE(static_cast<Quad>(result.report.log_z.upper), log_z);
      const bool is_possible = isinfq(log_z) == 0;
      EXPECT_TRUE(!is_possible || result.report.log_z.upper - result.report.log_z.lower <= 1e-10 * (1.0 + scale));
    }
  }
}

TEST(CountNumbers, WhatDoesNotFitHasSoundBounds) {
  FactorGraph graph = testing::variables({2, 2});
  graph.add_table({0, 1}, {0.0, -1e12, kNegInf, 3.0});
  graph.add_table({0}, {0.0, -1e299});
  const CountResult summed = count(graph);
  EXPECT_LE(summed.report.log_z.lower, 0.0);
  EXPECT_GE(summed.report.log_z.upper, 0.0);
  const CountResult result = count(graph, {}, {.has_reductions = false, .most_eliminated_entries = 0});
  EXPECT_EQ(result.report.stop, StopReason::kRounding);
  EXPECT_FALSE(result.is_solved);
  EXPECT_LE(result.report.log_z.lower, 0.0);
  EXPECT_GE(result.report.log_z.upper, 0.0);
  EXPECT_LT(result.report.log_z.upper, 5.0);
}

}  // namespace
}  // namespace treesample
