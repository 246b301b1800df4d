#include "treesample/exact/elimination.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "support/equal_marginals.hpp"
#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

using testing::expect_equal_marginals;
using testing::random_model;
using testing::RandomModelOptions;

// Cycles through sizes, zeros and scales; some of the models have Z = 0.
RandomModelOptions options_of_trial(int trial) {
  return {.num_variables = 1 + trial % 8,
          .max_states = 1 + trial % 4,
          .num_factors = trial % 13,
          .min_arity = trial % 2,
          .max_arity = 1 + trial % 5,
          .zero_probability = trial % 3 == 0 ? 0.0 : 0.1 * (trial % 3),
          .scale = trial % 5 == 0 ? 1e4 : 1.0};
}

TEST(Elimination, EqualsEnumerationOnRandomModels) {
  Random random(31);
  int num_zero = 0;
  for (int trial = 0; trial < 600; ++trial) {
    SCOPED_TRACE(trial);
    const FactorGraph graph = random_model(random, options_of_trial(trial));
    const Enumeration expected = enumerate(graph);
    const Elimination actual(graph, {}, {.seed = static_cast<std::uint64_t>(trial)});
    num_zero += expected.log_z == kNegInf ? 1 : 0;
    if (expected.log_z == kNegInf) {
      ASSERT_EQ(actual.log_z(), kNegInf);
    } else {
      ASSERT_NEAR(actual.log_z(), expected.log_z, 1e-12 * (1.0 + std::abs(expected.log_z)));
    }
    // With log-values of 1e4, probabilities inherit their absolute rounding error of 1e-11.
    ASSERT_NO_FATAL_FAILURE(expect_equal_marginals(actual.marginals(), expected.marginals, 1e-9));
    double total = 0.0;
    for (std::size_t i = 0; i < expected.log_probs.size(); ++i) {
      const double log_prob = actual.log_prob(configuration_at(graph, i));
      total += std::exp(log_prob);
      if (expected.log_probs[i] == kNegInf) {
        ASSERT_EQ(log_prob, kNegInf);
      } else {
        ASSERT_NEAR(log_prob, expected.log_probs[i], 1e-9 + 1e-12 * std::abs(expected.log_probs[i]));
      }
    }
    ASSERT_NEAR(total, expected.log_z == kNegInf ? 0.0 : 1.0, 1e-9);
  }
  EXPECT_GT(num_zero, 10);  // both kinds must occur
  EXPECT_LT(num_zero, 300);
}

TEST(Elimination, EqualsEnumerationWhenBucketsHaveManyBlocks) {
  Random random(32);
  const FactorGraph graph =
      random_model(random, {.num_variables = 16, .min_states = 2, .max_states = 2, .num_factors = 120, .max_arity = 4});
  const Elimination actual(graph);
  ASSERT_GT(actual.plan().log2_largest_bucket, 13.0);  // a block has at most 2^11 entries
  const Enumeration expected = enumerate(graph);
  EXPECT_NEAR(actual.log_z(), expected.log_z, 1e-12 * std::abs(expected.log_z));
  expect_equal_marginals(actual.marginals(), expected.marginals, 1e-12);
}

TEST(Elimination, LogZAloneNeedsNoMoreMemoryAndIsTheSame) {
  Random random(33);
  for (int trial = 0; trial < 50; ++trial) {
    const FactorGraph graph = random_model(random, {.num_variables = 10, .num_factors = 15});
    const Elimination all(graph);
    const Elimination lean(graph, {}, {.goal = EliminationGoal::kLogZ});
    EXPECT_EQ(all.log_z(), lean.log_z());
    EXPECT_LT(lean.plan().log_z_bytes, all.plan().sample_bytes);
    testing::expect_error(ErrorCode::kArgument, [&] { (void)lean.marginals(); });
    testing::expect_error(ErrorCode::kArgument, [&] { (void)lean.sample(random); });
  }
}

// Quantile of the chi-square distribution, upper tail 1e-6 (Wilson and Hilferty).
double chi_square_limit(double degrees) {
  const double z = 4.7534;
  const double a = 2.0 / (9.0 * degrees);
  return degrees * std::pow(1.0 - a + z * std::sqrt(a), 3.0);
}

// False-alarm rate: 12 chi-square tests at 1e-6 each, with a fixed seed.
TEST(Elimination, SamplesFollowTheDistribution) {
  Random random(34);
  constexpr int kNumSamples = 40000;
  for (int num_tested = 0; num_tested < 12;) {
    const FactorGraph graph =
        random_model(random, {.num_variables = 5, .num_factors = 6, .min_arity = 0, .zero_probability = 0.15});
    const Enumeration exact = enumerate(graph);
    if (exact.log_z == kNegInf) continue;
    SCOPED_TRACE(num_tested++);
    const Elimination elimination(graph);
    std::vector<int> counts(exact.log_probs.size(), 0);
    for (int s = 0; s < kNumSamples; ++s) ++counts[configuration_index(graph, elimination.sample(random))];
    // Rare configurations are merged into a cell: each cell expects at least 10.
    double chi_square = 0.0;
    double rare_expected = 0.0;
    double rare_count = 0.0;
    int num_cells = 0;
    const auto add_cell = [&](double expected, double count) {
      chi_square += (count - expected) * (count - expected) / expected;
      ++num_cells;
    };
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const double expected = kNumSamples * std::exp(exact.log_probs[i]);
      if (expected == 0.0) {
        ASSERT_EQ(counts[i], 0);
      } else if (expected < 10.0) {
        rare_expected += expected;
        rare_count += counts[i];
      } else {
        add_cell(expected, counts[i]);
      }
    }
    if (rare_expected >= 10.0) add_cell(rare_expected, rare_count);
    if (num_cells > 1) {
      EXPECT_LT(chi_square, chi_square_limit(num_cells - 1));
    }
  }
}

TEST(Elimination, SameSeedSameBits) {
  Random random(35);
  const FactorGraph graph = random_model(random, {.num_variables = 20, .num_factors = 30});
  Random first(1);
  Random second(1);
  const Elimination a(graph, {}, {.seed = 4});
  const Elimination b(graph, {}, {.seed = 4});
  EXPECT_EQ(a.plan().order, b.plan().order);
  EXPECT_EQ(a.log_z(), b.log_z());
  EXPECT_EQ(a.marginals(), b.marginals());
  for (int s = 0; s < 20; ++s) EXPECT_EQ(a.sample(first), b.sample(second));
}

TEST(Elimination, IsolatedVariablesAndConstantsCount) {
  FactorGraph graph = testing::variables({3, 1, 5});
  graph.add_table({}, {1.25});
  const Elimination elimination(graph);
  EXPECT_NEAR(elimination.log_z(), std::log(15.0) + 1.25, 1e-14);
  EXPECT_EQ(elimination.marginals()[1], std::vector<double>{1.0});
  EXPECT_NEAR(elimination.marginals()[2][4], 0.2, 1e-15);
  EXPECT_EQ(elimination.plan().width, 0);
}

TEST(Elimination, ModelWithoutVariables) {
  FactorGraph graph;
  EXPECT_EQ(Elimination(graph).log_z(), 0.0);
  graph.add_table({}, {-3.0});
  const Elimination elimination(graph);
  Random random(36);
  EXPECT_EQ(elimination.log_z(), -3.0);
  EXPECT_TRUE(elimination.sample(random).empty());
  EXPECT_EQ(elimination.log_prob({}), 0.0);
}

TEST(Elimination, ZeroDistributionHasNoSample) {
  FactorGraph contradiction;  // x0 = x1 and x0 != x1: no single table is all zero
  contradiction.add_variable(2);
  contradiction.add_variable(2);
  contradiction.add_variable(2);
  contradiction.add_table({0, 1}, {0.0, kNegInf, kNegInf, 0.0});
  contradiction.add_table({1, 0}, {kNegInf, 0.0, 0.0, kNegInf});
  contradiction.add_table({1, 2}, {1.0, 2.0, 3.0, 4.0});
  FactorGraph zero_constant = testing::variables({2});
  zero_constant.add_table({}, {kNegInf});
  Random random(37);
  for (const FactorGraph& graph : {contradiction, zero_constant}) {
    const Elimination elimination(graph);
    EXPECT_EQ(elimination.log_z(), kNegInf);
    for (const auto& marginal : elimination.marginals()) EXPECT_EQ(marginal, std::vector<double>(2, 0.0));
    EXPECT_EQ(elimination.log_prob(Assignment(graph.num_variables(), 0)), kNegInf);
    testing::expect_error(ErrorCode::kArgument, "no configuration with positive probability",
                          [&] { (void)elimination.sample(random); });
  }
}

// If tables were scaled to their maxima in the linear domain, each factor would be 0 at every state that the other one
// prefers.
TEST(Elimination, HugeOpposedLogValuesDoNotVanish) {
  FactorGraph graph = testing::variables({2, 2});
  graph.add_table({0}, {0.0, -20000.0});
  graph.add_table({0, 1}, {-30000.0, -30000.0, 0.0, -1.0});
  graph.add_table({0}, {-5000.0, 4000.0});
  const Elimination elimination(graph);
  EXPECT_NEAR(elimination.log_z(), -16000.0 + std::log1p(std::exp(-1.0)), 1e-10);
  EXPECT_NEAR(elimination.marginals()[1][0], 1.0 / (1.0 + std::exp(-1.0)), 1e-9);
  EXPECT_NEAR(elimination.marginals()[0][1], 1.0, 1e-15);
}

// A chain of N variables with K states, all log-values c: log Z = N log K + (N - 1) c.
TEST(Elimination, LogTenZBeyondTheRangeOfDoubles) {
  FactorGraph graph;
  constexpr int kLength = 3000;
  for (int v = 0; v < kLength; ++v) graph.add_variable(3);
  for (int v = 0; v + 1 < kLength; ++v) graph.add_table({v, v + 1}, std::vector<double>(9, 2.0));
  const Elimination elimination(graph);
  const double expected = kLength * std::log(3.0) + (kLength - 1) * 2.0;
  ASSERT_GT(expected / std::numbers::ln10, 308.0);
  EXPECT_NEAR(elimination.log_z(), expected, 1e-12 * expected);
  EXPECT_EQ(elimination.plan().width, 1);
  for (const auto& marginal : elimination.marginals()) EXPECT_NEAR(marginal[0], 1.0 / 3.0, 1e-12);
}

// A hub with many leaves: messages and separators of all children share a few passes.
TEST(Elimination, HubWithManyLeaves) {
  FactorGraph graph;
  const int hub = graph.add_variable(3);
  Random random(38);
  std::vector<double> log_weights(3, 0.0);
  for (int leaf = 1; leaf <= 2000; ++leaf) {
    graph.add_variable(2);
    std::vector<double> table(6);
    for (double& value : table) value = random.normal();
    for (int a = 0; a < 3; ++a) log_weights[a] += log_add_exp(table[2 * a], table[2 * a + 1]);
    graph.add_table({hub, leaf}, table);
  }
  const Elimination elimination(graph);
  const double log_z = softmax(log_weights, log_weights);
  EXPECT_NEAR(elimination.log_z(), log_z, 1e-12 * std::abs(log_z));
  for (int a = 0; a < 3; ++a) EXPECT_NEAR(elimination.marginals()[hub][a], log_weights[a], 1e-9);
}

FactorGraph complete_graph(int num_variables, int num_states) {
  FactorGraph graph = testing::variables(num_variables, num_states);
  for (int v = 0; v < num_variables; ++v) {
    for (int u = 0; u < v; ++u) {
      graph.add_table({u, v}, std::vector<double>(static_cast<std::size_t>(num_states * num_states), 0.0));
    }
  }
  return graph;
}

TEST(EliminationPlan, OfACompleteGraphByHand) {
  const EliminationPlan plan = plan_elimination(complete_graph(5, 3));
  EXPECT_EQ(plan.width, 4);
  EXPECT_NEAR(plan.log2_largest_bucket, 5.0 * std::log2(3.0), 1e-12);
  EXPECT_NEAR(plan.num_entries, 3 + 9 + 27 + 81 + 243, 1e-9);
  EXPECT_NEAR(plan.sample_bytes, 8.0 * (1 + 3 + 9 + 27 + 81), 1e-9);
  // The two largest messages, or distributions over separators, exist at the same time.
  EXPECT_NEAR(plan.log_z_bytes, 8.0 * (27 + 81), 1e-9);
  EXPECT_NEAR(plan.marginal_bytes, plan.sample_bytes + 8.0 * (27 + 81), 1e-9);
  for (const int v : plan.order) {
    for (const int u : plan.separators[v]) {
      EXPECT_GT(std::find(plan.order.begin(), plan.order.end(), u), std::find(plan.order.begin(), plan.order.end(), v));
    }
  }
}

TEST(EliminationPlan, TakesTheBestRestart) {
  Random random(39);
  const FactorGraph graph = random_model(random, {.num_variables = 40, .num_factors = 60});
  const double one = plan_elimination(graph, {.restarts = 1, .seed = 5}).num_entries;
  const double many = plan_elimination(graph, {.restarts = 50, .seed = 5}).num_entries;
  EXPECT_LT(many, one);  // both share the first order
}

TEST(EliminationPlan, AstronomicalSizesStayFinite) {
  FactorGraph graph = testing::variables(300, 100);
  const std::vector<int> scope = testing::integers(300);
  graph.add_factor(Factor::function(scope, [](std::span<const int>) { return 0.0; }));
  const EliminationPlan plan = plan_elimination(graph, {.restarts = 1});
  EXPECT_NEAR(plan.log2_largest_bucket, 300 * std::log2(100.0), 1e-9);
  EXPECT_TRUE(std::isfinite(plan.num_entries));
  EXPECT_TRUE(std::isfinite(plan.marginal_bytes));
  EXPECT_GT(plan.log_z_bytes, 1e300);
}

TEST(Elimination, RefusesWithBytesNeededAndAllowed) {
  const FactorGraph graph = complete_graph(5, 3);
  const std::string message = testing::message_of(ErrorCode::kResource, [&] { Elimination(graph, {.bytes = 967}); });
  EXPECT_NE(message.find("needs 968 bytes"), std::string::npos) << message;
  EXPECT_NE(message.find("allowed are 967 bytes"), std::string::npos) << message;
  const Elimination tight(graph, {.bytes = 968});
  EXPECT_NEAR(tight.log_z(), 5 * std::log(3.0), 1e-12);
  testing::expect_error(ErrorCode::kResource, [&] { (void)tight.marginals(); });
}

TEST(Elimination, UsesTheGivenOrder) {
  const FactorGraph graph = complete_graph(4, 2);
  const std::vector<int> order = {2, 0, 3, 1};
  const EliminationPlan plan = plan_in_order(graph, order);
  EXPECT_EQ(plan.order, order);
  EXPECT_EQ(Elimination(graph, plan).plan().order, order);
  testing::expect_error(ErrorCode::kArgument, [&] { plan_in_order(graph, {2, 0, 3}); });
  testing::expect_error(ErrorCode::kArgument, [&] { Elimination(complete_graph(5, 2), plan); });
}

// A plan is all that an elimination needs: made once, it serves another model of the same structure.
TEST(Elimination, OnePlanServesEveryModelOfTheStructure) {
  Random random(40);
  FactorGraph one = testing::variables(5, 2), other = testing::variables(5, 2);
  for (int v = 0; v + 1 < 5; ++v) {
    for (FactorGraph* const graph : {&one, &other}) {
      graph->add_table({v, v + 1}, {random.normal(), random.normal(), random.normal(), random.normal()});
    }
  }
  const EliminationPlan plan = plan_elimination(one);
  EXPECT_NEAR(Elimination(one, plan).log_z(), enumerate(one).log_z, 1e-12);
  EXPECT_NEAR(Elimination(other, plan).log_z(), enumerate(other).log_z, 1e-12);
}

// Asked before each of the five buckets, on the way up and, for the marginals, on the way down.
TEST(Elimination, IsGivenUpBetweenBucketsWhenAsked) {
  const FactorGraph graph = complete_graph(5, 2);
  for (int num_allowed = 0; num_allowed <= 10; ++num_allowed) {
    int num_asked = 0;
    const Observer observer{[&](const Progress& now) {
                              // Buckets of 32, 16, 8, 4 and 2 entries, one after the other, and in reverse.
                              const std::vector<double> num_done = {0.0, 32.0, 48.0, 56.0, 60.0,
                                                                    0.0, 2.0,  6.0,  14.0, 30.0};
                              if (num_asked < 10) {
                                EXPECT_NEAR(now.share_done.value(), num_done[num_asked] / 62.0, 1e-12);
                              }
                            },
                            [&] { return num_asked++ >= num_allowed; }};
    const auto log_z = [&] { return Elimination(graph, {}, {}, observer); };
    if (num_allowed < 5) {
      testing::expect_error(ErrorCode::kInterrupted, [&] { (void)log_z(); });
      continue;
    }
    const Elimination elimination = log_z();
    EXPECT_NEAR(elimination.log_z(), 5 * std::log(2.0), 1e-12);
    if (num_allowed < 10) {
      testing::expect_error(ErrorCode::kInterrupted, [&] { (void)elimination.marginals(); });
    } else {
      EXPECT_NEAR(elimination.marginals()[0][0], 0.5, 1e-12);
    }
  }
}

TEST(Elimination, RefusesFunctionsAndBadArguments) {
  FactorGraph graph = testing::variables({2});
  graph.add_factor(Factor::function({0}, [](std::span<const int>) { return 0.0; }));
  EXPECT_EQ(plan_elimination(graph).width, 0);
  testing::expect_error(ErrorCode::kArgument, [&] { Elimination elimination(graph); });
  testing::expect_error(ErrorCode::kArgument, [&] { plan_elimination(graph, {.restarts = -1}); });
  FactorGraph fine = testing::variables({2});
  const Elimination elimination(fine);
  testing::expect_error(ErrorCode::kArgument, [&] { (void)elimination.log_prob(Assignment{2}); });
}

}  // namespace
}  // namespace treesample
