// Models whose numbers leave the range of the linear domain inside a chain of buckets: what is lost there must count.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/random_models.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {
namespace {

std::vector<int> order_of(const FactorGraph& graph) { return testing::integers(graph.num_variables()); }

void expect_log_z(const FactorGraph& graph, long double log_z) {
  for (const bool keeps : {false, true}) {
    const EliminationOptions options{.goal = keeps ? EliminationGoal::kSamples : EliminationGoal::kLogZ};
    const Elimination elimination(graph, plan_in_order(graph, order_of(graph)), {}, options);
    EXPECT_LE(elimination.bounds().lower, static_cast<double>(log_z + 1e-12L)) << "messages kept: " << keeps;
    EXPECT_GE(elimination.bounds().upper, static_cast<double>(log_z - 1e-12L)) << "messages kept: " << keeps;
    EXPECT_NEAR(elimination.log_z(), static_cast<double>(log_z), 1e-9) << "messages kept: " << keeps;
  }
}

// u and v, and variables w that make the messages of u and v large enough for a chain of two buckets.
constexpr int kNumOthers = 17;
FactorGraph model_of(const std::vector<double>& uv, const std::vector<std::vector<double>>& vw) {
  FactorGraph graph;
  for (int v = 0; v < kNumOthers + 2; ++v) graph.add_variable(2);
  graph.add_table({0, 1}, uv);
  for (int w = 0; w < kNumOthers; ++w) graph.add_table({0, 2 + w}, {0.0, 0.0, 0.0, 0.0});
  for (std::size_t w = 0; w < vw.size(); ++w) graph.add_table({1, 2 + static_cast<int>(w)}, vw[w]);
  return graph;
}

TEST(EliminationRange, EntriesOppositeToWhatIsTruncatedCount) {
  // Z is what a message has where the factor beside it is so small that it is stored as 0.
  const double a = 549.9, b = 550.5;
  expect_log_z(model_of({-a, 0.0, -a, 0.0}, {{0.0, 0.0, -b, -b}}),
               (kNumOthers + 1) * std::log(2.0L) +
                   std::log(std::exp(-static_cast<long double>(a)) + std::exp(-static_cast<long double>(b))));
}

TEST(EliminationRange, OpposedPenaltiesAreNotZeros) {
  const double big = 690.0;
  expect_log_z(model_of({0.0, 0.0, 0.0, 0.0}, {{0.0, 0.0, -big, -big}, {-big, -big, 0.0, 0.0}}),
               (kNumOthers + 2) * std::log(2.0L) - static_cast<long double>(big));
}

TEST(EliminationRange, ProductsThatUnderflowAreNotZeros) {
  const std::vector<double> first = {-500.0, -500.0, 0.0, 0.0}, second = {0.0, 0.0, -500.0, -500.0};
  expect_log_z(model_of({0.0, 0.0, 0.0, 0.0}, {first, first, second, second}),
               (kNumOthers + 2) * std::log(2.0L) - 1000.0L);
}

TEST(EliminationRange, ErrorsThatHundredsOfMessagesMakeSmallerStayAboveZero) {
  for (const int num_leaves : {10, 300, 2000}) {
    FactorGraph graph;
    const int hub = graph.add_variable(2);
    for (int i = 0; i < num_leaves; ++i) graph.add_table({hub, graph.add_variable(2)}, {0.0, -50.0, -50.0, 0.0});
    graph.add_table({hub, graph.add_variable(2)}, {0.0, -50.0, -600.0, -650.0});
    graph.add_table({hub, graph.add_variable(2)}, {-600.0, -650.0, 0.0, -50.0});
    const Elimination elimination(graph);
    const double log_z = -600.0 + std::log(2.0);  // and less than 1e-18 per leaf
    EXPECT_LE(elimination.bounds().lower, log_z + 1e-9) << num_leaves;
    EXPECT_GE(elimination.bounds().upper, log_z - 1e-9) << num_leaves;
    EXPECT_NEAR(elimination.log_z(), log_z, 1e-9) << num_leaves;
  }
}

TEST(EliminationRange, ZerosAreZeros) {
  const double none = -HUGE_VAL;
  const FactorGraph graph = model_of({0.0, 0.0, 0.0, 0.0}, {{0.0, 0.0, none, none}, {none, none, 0.0, 0.0}});
  for (const bool keeps : {false, true}) {
    const EliminationOptions options{.goal = keeps ? EliminationGoal::kSamples : EliminationGoal::kLogZ};
    const Elimination elimination(graph, plan_in_order(graph, order_of(graph)), {}, options);
    EXPECT_EQ(elimination.bounds().upper, none);
  }
}

// Sums of 1e12 are known to 1e-4, and so is a probability that is the difference of two of them: it may be above 1.
TEST(EliminationRange, ProbabilitiesOfLargeNumbersAddUp) {
  for (int trial = 0; trial < 20; ++trial) {
    FactorGraph graph;
    for (int v = 0; v < 4; ++v) graph.add_variable(2);
    for (int v = 0; v + 1 < 4; ++v) {
      const double large = 1e12 / (3.0 + trial + v);
      graph.add_table({v, v + 1}, {large, large - 9.0, large - 11.0, large - 0.5 * v});
    }
    const Elimination elimination(graph);
    double total = 0.0;
    for (int i = 0; i < 16; ++i) {
      const double log_prob = elimination.log_prob(Assignment{i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3});
      EXPECT_LE(log_prob, 0.0) << trial;
      total += std::exp(log_prob);
    }
    EXPECT_NEAR(total, 1.0, 1e-12) << trial;
  }
}

}  // namespace
}  // namespace treesample
