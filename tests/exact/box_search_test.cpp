// Monotone functions: bounds from boxes against enumeration.
#include "treesample/monotone/box_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/oracle/oracle_set.hpp"
#include "treesample/reduce/evidence.hpp"

namespace treesample {
namespace {

enum class Kind { kThreshold, kReal, kPaths, kPathsWithWitness };

struct Case {
  FactorGraph graph;
  std::shared_ptr<std::int64_t> num_calls = std::make_shared<std::int64_t>(0);
};

// Levels are states counted in the direction of the function.
int level(int state, int num_states, Direction direction) {
  return direction == Direction::kIncreasing ? state : num_states - 1 - state;
}

// A system of paths, each a set of places. It works if all places of one path are at their highest levels; this path is
// then the witness. Otherwise the witness has one place of each path that is not.
FactorValue by_paths(const std::vector<std::vector<int>>& paths, const std::vector<char>& is_high, bool has_witness) {
  std::vector<int> cut;
  for (const std::vector<int>& path : paths) {
    const auto broken = std::find_if(path.begin(), path.end(), [&](int place) { return is_high[place] == 0; });
    if (broken == path.end()) return {0.0, has_witness ? std::optional(path) : std::nullopt};
    cut.push_back(*broken);
  }
  return {kNegInf, has_witness ? std::optional(cut) : std::nullopt};
}

Factor random_function(const std::vector<int>& scope, const std::vector<int>& num_states, Kind kind, Random& random,
                       const std::shared_ptr<std::int64_t>& num_calls) {
  std::vector<Direction> directions;
  std::vector<double> weights;
  for (std::size_t i = 0; i < scope.size(); ++i) {
    directions.push_back(random.uniform() < 0.5 ? Direction::kIncreasing : Direction::kDecreasing);
    weights.push_back(std::exp(random.normal()));
  }
  double total = 0.0;
  for (std::size_t i = 0; i < scope.size(); ++i) total += weights[i] * (num_states[i] - 1);
  const double threshold = random.uniform() * total;
  std::vector<std::vector<int>> paths(1 + random.below(4));
  for (std::vector<int>& path : paths) {
    const std::vector<int> places = random.permutation(static_cast<int>(scope.size()));
    path.assign(places.begin(), places.begin() + 1 + static_cast<int>(random.below(scope.size())));
  }
  const auto function = [=](std::span<const int> x) -> FactorValue {
    ++*num_calls;
    double sum = 0.0;
    std::vector<char> is_high;
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += weights[i] * level(x[i], num_states[i], directions[i]);
      is_high.push_back(level(x[i], num_states[i], directions[i]) == num_states[i] - 1 ? 1 : 0);
    }
    if (kind == Kind::kThreshold) return {sum >= threshold ? 0.0 : kNegInf};
    if (kind == Kind::kReal) return {sum < 0.3 * threshold ? kNegInf : std::min(sum, 1.5 * threshold) - 2.0};
    return by_paths(paths, is_high, kind == Kind::kPathsWithWitness);
  };
  return Factor::explained_function(scope, function).monotone(directions);
}

// Unequal numbers of states, impossible states, tables of two variables, variables that are in no function.
Case random_case(std::uint64_t seed, Kind kind) {
  Random random(seed, "monotone");
  Case result;
  const int num_variables = 3 + static_cast<int>(random.below(5));
  for (int v = 0; v < num_variables; ++v) {
    const int num_states = 2 + static_cast<int>(random.below(3));
    result.graph.add_variable(num_states);
    std::vector<double> values(static_cast<std::size_t>(num_states));
    for (double& value : values) value = random.uniform() < 0.1 ? kNegInf : 2.0 * random.normal();
    result.graph.add_table({v}, values);
  }
  if (random.uniform() < 0.5) {
    std::vector<double> values(
        static_cast<std::size_t>(result.graph.num_states(0) * result.graph.num_states(num_variables - 1)));
    for (double& value : values) value = random.uniform() < 0.2 ? kNegInf : random.normal();
    result.graph.add_table({num_variables - 1, 0}, values);
  }
  const int num_functions = 1 + static_cast<int>(random.below(2));
  for (int i = 0; i < num_functions; ++i) {
    std::vector<int> scope, num_states;
    for (const int v : random.permutation(num_variables)) {
      if (!scope.empty() && random.uniform() < 0.2) continue;
      scope.push_back(v);
      num_states.push_back(result.graph.num_states(v));
    }
    result.graph.add_factor(random_function(scope, num_states, kind, random, result.num_calls));
  }
  return result;
}

void expect_between(const LogBounds& bounds, double truth) {
  EXPECT_LE(bounds.lower, truth + 1e-12);
  EXPECT_GE(bounds.upper, truth - 1e-12);
}

class BoxSearchCases : public ::testing::TestWithParam<Kind> {};

TEST_P(BoxSearchCases, BoundsHoldAtEveryBudgetAndEndExact) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Case random = random_case(seed, GetParam());
    const Enumeration truth = enumerate(random.graph);
    for (const std::int64_t budget : {0, 1, 2, 3, 5, 10, 30, 100'000}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", budget " << budget);
      *random.num_calls = 0;
      const BoxResult result =
          box_search(random.graph, {.budget = budget, .unit = BudgetUnit::kCall}, {.seed = seed, .sample_share = 0.0});
      EXPECT_LE(*random.num_calls, budget);
      EXPECT_EQ(result.report.spent.calls, *random.num_calls);
      expect_between(result.report.log_z, truth.log_z);
      if (budget < 100'000) continue;
      EXPECT_EQ(result.report.stop, StopReason::kExact);
      EXPECT_TRUE(result.report.log_z.is_exact());
    }
  }
}

TEST_P(BoxSearchCases, MarginalsAreWithinTheirErrorsAndProbabilitiesAddUp) {
  for (std::uint64_t seed = 100; seed < 130; ++seed) {
    const Case random = random_case(seed, GetParam());
    const Enumeration truth = enumerate(random.graph);
    for (const std::int64_t budget : {4, 12, 100'000}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", budget " << budget);
      const BoxResult result =
          box_search(random.graph, {.budget = budget, .unit = BudgetUnit::kCall}, {.seed = seed, .sample_share = 0.0});
      if (!result.approximation) {
        EXPECT_EQ(truth.log_z, kNegInf);
        continue;
      }
      if (truth.log_z != kNegInf) {
        for (int v = 0; v < random.graph.num_variables(); ++v) {
          for (int s = 0; s < random.graph.num_states(v); ++s) {
            EXPECT_NEAR(result.marginals[v][s], truth.marginals[v][s], result.marginal_errors[v]);
          }
        }
      }
      double total = 0.0;
      double largest = kNegInf;
      Assignment x(static_cast<std::size_t>(random.graph.num_variables()), 0);
      for (int v = 0; v >= 0;) {
        const double log_p = result.approximation->log_prob(x);
        total += std::exp(log_p);
        largest = std::max(largest, random.graph.log_density(x));
        if (budget == 100'000 && truth.log_z != kNegInf) {
          const double expected = random.graph.log_density(x) - truth.log_z;
          if (expected == kNegInf) {
            EXPECT_LT(log_p, -13.0);
          } else {
            EXPECT_NEAR(std::exp(log_p), std::exp(expected), 1e-5);
          }
        }
        for (v = random.graph.num_variables() - 1; v >= 0 && ++x[v] == random.graph.num_states(v); --v) x[v] = 0;
      }
      EXPECT_NEAR(total, 1.0, 1e-9);
      EXPECT_GE(result.log_most, largest - 1e-9);
      if (result.best) {
        EXPECT_NEAR(result.best->log_density, random.graph.log_density(result.best->x), 1e-9);
        EXPECT_LE(result.best->log_density, largest + 1e-9);
      }
      Random draws(seed, "draws");
      for (int i = 0; i < 5; ++i)
        EXPECT_GT(result.approximation->log_prob(result.approximation->sample(draws)), kNegInf);
    }
  }
}

TEST_P(BoxSearchCases, SampledIntervalsAreWithinTheBoundsAndCoverAsTheySay) {
  int num_intervals = 0, num_missed = 0;
  for (std::uint64_t seed = 200; seed < 300; ++seed) {
    const Case random = random_case(seed, GetParam());
    const double truth = enumerate(random.graph).log_z;
    const BoxResult result = box_search(random.graph, {.budget = 25, .unit = BudgetUnit::kCall},
                                        {.seed = seed, .sample_share = 0.7, .confidence = 0.9});
    EXPECT_LE(result.report.spent.calls, 25);
    expect_between(result.report.log_z, truth);
    if (!result.report.samples) continue;
    const BoxSamples& samples = *result.report.samples;
    ++num_intervals;
    EXPECT_LE(samples.interval.lower, samples.interval.upper);
    EXPECT_GE(samples.interval.lower, result.report.log_z.lower);
    EXPECT_LE(samples.interval.upper, result.report.log_z.upper);
    num_missed += truth < samples.interval.lower - 1e-9 || truth > samples.interval.upper + 1e-9 ? 1 : 0;
  }
  // At most a tenth are missed on average: 10 of 100 with a standard deviation of 3; false-alarm rate below 1e-4.
  EXPECT_LE(num_missed, num_intervals / 10 + 12);
}

INSTANTIATE_TEST_SUITE_P(Kinds, BoxSearchCases,
                         ::testing::Values(Kind::kThreshold, Kind::kReal, Kind::kPaths, Kind::kPathsWithWitness));

// Twelve parts, each up with probability 0.9. The system fails unless all parts of one of four rows of three are up.
FactorGraph rows_of_three(bool has_witness, const std::shared_ptr<std::int64_t>& num_calls) {
  FactorGraph graph;
  std::vector<int> scope;
  for (int i = 0; i < 12; ++i) {
    scope.push_back(graph.add_variable({2, "part" + std::to_string(i), {"down", "up"}}));
    graph.add_table({i}, {std::log(0.1), std::log(0.9)});
  }
  const auto fails = [has_witness, num_calls](std::span<const int> x) -> FactorValue {
    ++*num_calls;
    std::vector<int> cut;
    for (int row = 0; row < 4; ++row) {
      int place = 3 * row;
      while (place < 3 * row + 3 && x[place] == 1) ++place;
      if (place == 3 * row + 3) {
        return {kNegInf, has_witness ? std::optional(std::vector{3 * row, 3 * row + 1, 3 * row + 2}) : std::nullopt};
      }
      cut.push_back(place);
    }
    return {0.0, has_witness ? std::optional(cut) : std::nullopt};
  };
  graph.add_factor(
      Factor::explained_function(scope, fails).monotone(std::vector<Direction>(12, Direction::kDecreasing)));
  return graph;
}

TEST(BoxSearch, WitnessesSaveCalls) {
  const double truth = 4.0 * std::log(1.0 - 0.729);
  std::int64_t calls[2] = {0, 0};
  for (const bool has_witness : {false, true}) {
    const auto num_calls = std::make_shared<std::int64_t>(0);
    const BoxResult result = box_search(rows_of_three(has_witness, num_calls), {.gap = 0.02}, {.sample_share = 0.0});
    expect_between(result.report.log_z, truth);
    EXPECT_LE(result.report.log_z.upper - result.report.log_z.lower, 0.02);
    EXPECT_EQ(result.report.stop, result.report.log_z.is_exact() ? StopReason::kExact : StopReason::kGap);
    calls[has_witness ? 1 : 0] = *num_calls;
  }
  EXPECT_LT(calls[1], 90);
  EXPECT_LT(4 * calls[1], calls[0]);
}

TEST(BoxSearch, TheBestIsProvedWhereTablesAreOfSingleVariables) {
  const BoxResult result =
      box_search(rows_of_three(true, std::make_shared<std::int64_t>(0)), {}, {.sample_share = 0.0});
  ASSERT_TRUE(result.best);
  EXPECT_NEAR(result.best->log_density, 4 * std::log(0.1) + 8 * std::log(0.9), 1e-9);
  EXPECT_NEAR(result.log_most, result.best->log_density, 1e-9);
}

TEST(BoxSearch, EvidenceKeepsDirectionsAndWitnesses) {
  const auto num_calls = std::make_shared<std::int64_t>(0);
  const FactorGraph graph = rows_of_three(true, num_calls);
  const ReducedModel reduced = condition(graph, {{0, 0}, {4, 1}, {5, 1}});
  const BoxResult result = box_search(reduced.graph, {}, {.sample_share = 0.0});
  const double truth = std::log(0.1) + 2 * std::log(0.9) + std::log(0.1) + 2.0 * std::log(1.0 - 0.729);
  EXPECT_NEAR(result.report.estimate, truth, 1e-9);
  EXPECT_LT(*num_calls, 60);
}

TEST(BoxSearch, SaysWhichValuesContradictTheDeclaration) {
  FactorGraph graph;
  graph.add_variable({2, "a", {"no", "yes"}});
  graph.add_variable({2, "b", {"no", "yes"}});
  graph.add_factor(Factor::function({0, 1}, [](std::span<const int> x) {
                     return x[0] == 1 ? -1.0 : 2.0;
                   }).monotone({Direction::kIncreasing, Direction::kIncreasing}));
  EXPECT_EQ(testing::message_of(ErrorCode::kArgument, [&] { box_search(graph, {}); }),
            "factor 0 is not monotone as it is declared: it is -1 at a=yes, b=yes and 2 at a=no, b=no");
}

TEST(BoxSearch, AWrongWitnessIsSeenWhenAValueContradictsIt) {
  const auto searched = [](bool is_wrong) {
    FactorGraph graph;
    for (int v = 0; v < 2; ++v) graph.add_variable({2, v == 0 ? "a" : "b", {}});
    const auto function = [is_wrong](std::span<const int> x) -> FactorValue {
      const bool is_low = x[0] + x[1] == 0;
      return {static_cast<double>(x[0] + x[1]), is_low && is_wrong ? std::optional(std::vector<int>{}) : std::nullopt};
    };
    graph.add_factor(
        Factor::explained_function({0, 1}, function).monotone({Direction::kIncreasing, Direction::kIncreasing}));
    return box_search(graph, {}).report.log_z.is_exact();
  };
  EXPECT_TRUE(searched(false));
  EXPECT_EQ(testing::message_of(ErrorCode::kArgument, [&] { searched(true); }),
            "factor 0 is not monotone as it is declared: it is 2 at a=1, b=1 and 0 at a=0, b=0 (witness: nothing)");
}

TEST(BoxSearch, AWitnessMayBeAllThatIsAsked) {
  FactorGraph graph = testing::variables(3, 2);
  graph.add_factor(Factor::explained_function({0, 1, 2}, [](std::span<const int>) -> FactorValue {
                     return {-1.5, std::vector<int>{}};
                   }).monotone(std::vector<Direction>(3, Direction::kDecreasing)));
  const BoxResult result = box_search(graph, {});
  EXPECT_EQ(result.report.spent.calls, 1);
  EXPECT_NEAR(result.report.estimate, std::log(8.0) - 1.5, 1e-12);
}

// Functions that are not monotone as declared: an error or an answer, nothing else.
TEST(BoxSearch, SurvivesFunctionsThatAreNotMonotone) {
  int num_errors = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed, "hostile");
    FactorGraph graph;
    std::vector<int> scope;
    for (int v = 0; v < 6; ++v) {
      scope.push_back(graph.add_variable(2 + static_cast<int>(random.below(2))));
      if (random.uniform() < 0.5) graph.add_table({v}, std::vector<double>(graph.num_states(v), random.normal()));
    }
    const auto function = [seed](std::span<const int> x) -> FactorValue {
      std::uint64_t hash = seed;
      for (const int state : x) hash = hash * 31 + static_cast<std::uint64_t>(state);
      Random at(hash, "value");
      const double value = at.uniform() < 0.2 ? kNegInf : at.normal();
      if (at.uniform() < 0.7) return {value};
      return {value, std::vector<int>{static_cast<int>(at.below(x.size()))}};
    };
    graph.add_factor(
        Factor::explained_function(scope, function).monotone(std::vector<Direction>(6, Direction::kIncreasing)));
    try {
      const BoxResult result = box_search(graph, {.budget = 300, .unit = BudgetUnit::kCall}, {.seed = seed});
      EXPECT_LE(result.report.log_z.lower, result.report.log_z.upper);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kArgument);
      EXPECT_NE(std::string(error.what()).find("is not monotone as it is declared"), std::string::npos);
      ++num_errors;
    }
  }
  EXPECT_GT(num_errors, 100);
}

TEST(BoxSearch, RefusesWhatItCannotTake) {
  FactorGraph graph = testing::variables({2});
  EXPECT_EQ(box_search_obstacle(graph), "no factor is a function");
  graph.add_factor(Factor::function({0}, [](std::span<const int>) { return 0.0; }));
  EXPECT_EQ(box_search_obstacle(graph), "factor 0 is a function that is not declared monotone");
  EXPECT_THROW(box_search(graph, {}), Error);
  EXPECT_THROW(Factor::function({0}, [](std::span<const int>) { return 0.0; }).monotone({}), Error);
  EXPECT_THROW(Factor::table({0}, {0.0, 0.0}).monotone({Direction::kIncreasing}), Error);
}

TEST(BoxSearch, NaNIsRefusedAndRoundingIsAllowedFor) {
  FactorGraph graph = testing::variables(8, 2);
  const std::vector<int> scope = testing::integers(8);
  FactorGraph bad = graph;
  bad.add_factor(Factor::function(scope, [](std::span<const int>) {
                   return std::nan("");
                 }).monotone(std::vector<Direction>(8, Direction::kIncreasing)));
  EXPECT_THROW(box_search(bad, {}), Error);
  // A sum whose last bits depend on states that should not matter.
  graph.add_factor(Factor::function(scope, [](std::span<const int> x) {
                     return std::min(3, x[0] + x[1] + x[2] + x[3]) + 1e-13 * std::sin(100.0 * (x[4] + 2 * x[5] + x[6]));
                   }).monotone(std::vector<Direction>(8, Direction::kIncreasing)));
  const BoxResult result = box_search(graph, {}, {.sample_share = 0.0});
  expect_between(result.report.log_z, enumerate(graph).log_z);
  EXPECT_TRUE(result.report.log_z.is_exact());
}

TEST(BoxSearch, SameBitsWithAnyNumberOfWorkersThatAnswerInOrder) {
  const auto run = [](int workers) {
    const FactorGraph graph = rows_of_three(false, std::make_shared<std::int64_t>(0));
    OracleSet oracles(graph, "1", {.num_workers = workers});
    return box_search(oracles.graph(), {.budget = 200, .unit = BudgetUnit::kCall}, {.sample_share = 0.5});
  };
  const BoxResult once = run(3), again = run(3), alone = run(1);
  EXPECT_EQ(once.report.log_z.lower, again.report.log_z.lower);
  EXPECT_EQ(once.report.log_z.upper, again.report.log_z.upper);
  ASSERT_TRUE(once.report.samples && alone.report.samples);
  EXPECT_EQ(once.report.samples->interval.upper, again.report.samples->interval.upper);
  EXPECT_EQ(once.report.spent.calls, 200);
  const double truth = 4.0 * std::log(1.0 - 0.729);
  expect_between(once.report.log_z, truth);
  expect_between(alone.report.log_z, truth);
}

}  // namespace
}  // namespace treesample
