#include "treesample/baselines/smc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

using testing::expect_error;
using testing::random_model;

SearchSpace given_space(const FactorGraph& graph, SpaceKind kind = SpaceKind::kTree) {
  const std::vector<int> order = testing::integers(graph.num_variables());
  return make_search_space(graph, order, kind);
}

// A chain with tables of equal rows is enough where only the bookkeeping matters.
FactorGraph chain(int num_variables, int num_states) {
  FactorGraph graph = testing::variables(num_variables, num_states);
  for (int v = 0; v + 1 < num_variables; ++v) {
    std::vector<double> values(num_states * num_states);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.5 * static_cast<double>(i % 3);
    graph.add_table({v, v + 1}, values);
  }
  return graph;
}

TEST(Smc, ParticlesUseTheBudgetAndNeverMore) {
  Random random(61);
  for (int trial = 0; trial < 60; ++trial) {
    int calls = 0;
    FactorGraph graph = random_model(random, {.num_variables = 1 + trial % 6,
                                              .num_factors = 9,
                                              .min_arity = trial % 2,
                                              .zero_probability = trial % 3 == 0 ? 0.2 : 0.0});
    graph.add_factor(Factor::function({0}, [&](std::span<const int>) {
      ++calls;
      return 0.25;
    }));
    const SearchSpace space = given_space(graph);
    int num_factors = 0;
    for (const Factor& factor : graph.factors()) num_factors += factor.scope().empty() ? 0 : 1;
    for (const std::int64_t budget : {11, 100, 501}) {
      for (const double threshold : {0.0, 0.7}) {
        calls = 0;
        const SmcReport by_reward = smc(graph, space, {}, {.budget = budget}, {.ess_threshold = threshold}).report;
        ASSERT_EQ(by_reward.num_particles, budget / graph.num_variables());
        ASSERT_LE(by_reward.spent.reward_evaluations, budget);
        if (by_reward.estimate != kNegInf && by_reward.num_dropped == 0) {
          ASSERT_EQ(by_reward.spent.reward_evaluations, by_reward.num_particles * graph.num_variables());
          ASSERT_EQ(calls, by_reward.num_particles);
        }
        const SmcReport by_factor =
            smc(graph, space, {}, {.budget = budget, .unit = BudgetUnit::kFactor}, {.ess_threshold = threshold}).report;
        ASSERT_EQ(by_factor.num_particles, budget / num_factors);
        ASSERT_LE(by_factor.spent.factor_evaluations, budget);
      }
    }
  }
}

// Resampled after the last level too, particles have equal weights: probabilities are multiples of 1 / I, and the mean
// weight before it is in the estimate.
TEST(Smc, ResamplesAfterTheLastLevelIfAskedTo) {
  const FactorGraph graph = chain(6, 3);
  const SearchSpace space = given_space(graph);
  const SmcResult usual = smc(graph, space, {}, {.budget = 600}, {.ess_threshold = 1.0});
  const SmcResult result = smc(graph, space, {}, {.budget = 600}, {.ess_threshold = 1.0, .resamples_last = true});
  EXPECT_EQ(result.report.num_resamplings, usual.report.num_resamplings + 1);
  EXPECT_NEAR(result.report.estimate, usual.report.estimate, 1e-12);
  for (int i = 0; i < result.approximation.num_atoms(); ++i) {
    const double copies = result.approximation.probability(i) * 100.0;  // 600 evaluations, 6 for each particle
    EXPECT_NEAR(copies, std::round(copies), 1e-9);
  }
  // Without a threshold it is SIS, whose weights are the answer.
  EXPECT_EQ(
      smc(graph, space, {}, {.budget = 600}, {.ess_threshold = 0.0, .resamples_last = true}).report.num_resamplings, 0);
}

TEST(Smc, ResamplesOnlyBelowTheThresholdAndNeverAfterTheLastLevel) {
  const FactorGraph graph = chain(6, 3);
  const SearchSpace space = given_space(graph);
  EXPECT_EQ(smc(graph, space, {}, {.budget = 600}, {.ess_threshold = 0.0}).report.num_resamplings, 0);
  // Level 0 has no factor: equal weights. Levels 1 to 4 have unequal ones, the last is not resampled.
  const SmcReport report = smc(graph, space, {}, {.budget = 600}, {.ess_threshold = 1.0}).report;
  EXPECT_EQ(report.num_resamplings, 4);
  EXPECT_LT(report.ess, 100.0);  // the atoms keep the weights of the last level
}

TEST(Smc, TreeAndGraphSpaceAreTheSame) {
  const FactorGraph graph = chain(7, 4);
  const SmcResult tree = smc(graph, given_space(graph), {}, {.budget = 700}, {.seed = 4});
  const SmcResult merged = smc(graph, given_space(graph, SpaceKind::kGraph), {}, {.budget = 700}, {.seed = 4});
  EXPECT_EQ(tree.report.estimate, merged.report.estimate);
  EXPECT_EQ(tree.approximation.entropy(), merged.approximation.entropy());
}

TEST(Smc, SameSeedSameBitsAndOtherSeedOtherBits) {
  Random random(62);
  const FactorGraph graph = random_model(random, {.num_variables = 6, .min_states = 2, .num_factors = 9});
  const SearchSpace space = given_space(graph);
  const SmcOptions options{.ess_threshold = 0.8, .seed = 9};
  const SmcResult first = smc(graph, space, {}, {.budget = 300}, options);
  const SmcResult second = smc(graph, space, {}, {.budget = 300}, options);
  EXPECT_EQ(first.report.estimate, second.report.estimate);
  ASSERT_EQ(first.approximation.num_atoms(), second.approximation.num_atoms());
  for (int i = 0; i < first.approximation.num_atoms(); ++i) {
    EXPECT_EQ(first.approximation.probability(i), second.approximation.probability(i));
    EXPECT_TRUE(std::equal(first.approximation.atom(i).begin(), first.approximation.atom(i).end(),
                           second.approximation.atom(i).begin()));
  }
  SmcOptions other = options;
  other.seed = 10;
  EXPECT_NE(smc(graph, space, {}, {.budget = 300}, other).report.estimate, first.report.estimate);
}

TEST(Smc, ModelsWithoutAnyConfigurationAreAnswered) {
  FactorGraph graph = testing::variables(3, 2);
  graph.add_table({0, 1}, {kNegInf, kNegInf, kNegInf, kNegInf});
  for (const double threshold : {0.0, 1.0}) {
    const SmcResult result = smc(graph, given_space(graph), {}, {.budget = 30}, {.ess_threshold = threshold});
    EXPECT_EQ(result.report.estimate, kNegInf);
    EXPECT_EQ(result.report.ess, 0.0);
    EXPECT_EQ(result.report.num_dropped, 10);
    EXPECT_EQ(result.report.spent.reward_evaluations, 20);  // nobody reaches the last level
    EXPECT_TRUE(result.approximation.is_empty());
    Random random(0);
    EXPECT_THROW(static_cast<void>(result.approximation.sample(random)), Error);
  }
  FactorGraph constant = testing::variables({2});
  constant.add_table({}, {kNegInf});
  const SmcResult result = smc(constant, given_space(constant), {}, {.budget = 10});
  EXPECT_EQ(result.report.estimate, kNegInf);
  EXPECT_EQ(result.report.spent.reward_evaluations, 0);
}

TEST(Smc, DegenerateModels) {
  FactorGraph nothing;
  nothing.add_table({}, {1.5});
  const SmcResult empty = smc(nothing, given_space(nothing), {}, {.budget = 3});
  EXPECT_EQ(empty.report.estimate, 1.5);
  EXPECT_EQ(empty.approximation.log_prob(Assignment{}), 0.0);

  FactorGraph single_states = testing::variables(4, 1);
  single_states.add_table({0, 3}, {-0.75});
  const SmcResult single = smc(single_states, given_space(single_states), {}, {.budget = 8});
  EXPECT_NEAR(single.report.estimate, -0.75, 1e-15);
  EXPECT_EQ(single.approximation.num_atoms(), 1);

  FactorGraph no_factors = testing::variables({5});
  const SmcResult free = smc(no_factors, given_space(no_factors), {}, {.budget = 20, .unit = BudgetUnit::kFactor});
  EXPECT_EQ(free.report.num_particles, 20);
  EXPECT_NEAR(free.report.estimate, std::log(5.0), 1e-14);
}

// A prior that forbids what the target forbids never loses a particle; one that forbids all actions loses all.
class LimitedPrior final : public LeafValue {
 public:
  LimitedPrior(const SearchSpace& space, std::vector<double> values) : LeafValue(space), values_(std::move(values)) {}
  void q_values(int /*level*/, std::span<const int> /*prefixes*/, int count, std::span<double> q) const override {
    for (int r = 0; r < count; ++r) std::copy(values_.begin(), values_.end(), q.begin() + r * values_.size());
  }

 private:
  std::vector<double> values_;
};

TEST(Smc, PriorsMayForbidActions) {
  FactorGraph graph = testing::variables(3, 2);
  for (int v = 0; v < 3; ++v) graph.add_table({v}, {0.5, kNegInf});
  const SearchSpace space = given_space(graph);
  const SmcResult good =
      smc(graph, space, {.estimate = std::make_shared<LimitedPrior>(space, std::vector<double>{3.0, kNegInf})},
          {.budget = 30});
  EXPECT_EQ(good.report.num_dropped, 0);
  EXPECT_NEAR(good.report.estimate, 1.5, 1e-12);
  const SmcResult dead =
      smc(graph, space, {.estimate = std::make_shared<LimitedPrior>(space, std::vector<double>{kNegInf, kNegInf})},
          {.budget = 30});
  EXPECT_EQ(dead.report.estimate, kNegInf);
  EXPECT_EQ(dead.report.spent.reward_evaluations, 0);
  expect_error(ErrorCode::kNumeric, "leaf value", [&] {
    smc(graph, space, {.estimate = std::make_shared<LimitedPrior>(space, std::vector<double>{std::nan(""), 0.0})},
        {.budget = 30});
  });
}

TEST(Smc, ObserverInterrupts) {
  const FactorGraph graph = chain(6, 3);
  std::int64_t seen = 0;
  const SmcResult result =
      smc(graph, given_space(graph), {}, {.budget = 60'000}, {},
          {[&](const Progress& now) { seen = now.spent.reward_evaluations; }, [&] { return seen >= 20'000; }});
  EXPECT_EQ(result.report.stop, StopReason::kInterrupted);
  EXPECT_EQ(result.report.spent.reward_evaluations, seen);
  EXPECT_LT(seen, 21'000);
  EXPECT_TRUE(result.approximation.is_empty());
  EXPECT_EQ(smc(graph, given_space(graph), {}, {.budget = 60'000, .seconds = 0.0}).report.stop, StopReason::kTime);
}

TEST(Smc, RefusesWhatItCannotDo) {
  const FactorGraph graph = chain(6, 3);
  const SearchSpace space = given_space(graph);
  expect_error(ErrorCode::kArgument, "andor",
               [&] { smc(graph, given_space(graph, SpaceKind::kAndOr), {}, {.budget = 100}); });
  expect_error(ErrorCode::kArgument, "budget", [&] { smc(graph, space, {}, {.budget = 5}); });
  expect_error(ErrorCode::kResource, "bytes", [&] { smc(graph, space, {}, {.budget = 10'000, .bytes = 1000}); });
  expect_error(ErrorCode::kArgument, [&] { smc(graph, space, {}, {.budget = -1}); });
  expect_error(ErrorCode::kArgument, [&] { smc(graph, space, {}, {}, {.ess_threshold = -0.1}); });
  expect_error(ErrorCode::kArgument, [&] { smc(graph, space, {}, {}, {.ess_threshold = 1.1}); });
  expect_error(ErrorCode::kArgument, [&] { smc(graph, space, {}, {}, {.ess_threshold = std::nan("")}); });
  FactorGraph bad = testing::variables({2});
  bad.add_factor(Factor::function({0}, [](std::span<const int>) { return std::nan(""); }));
  expect_error(ErrorCode::kNumeric, [&] { smc(bad, given_space(bad), {}, {.budget = 100}); });
}

}  // namespace
}  // namespace treesample
