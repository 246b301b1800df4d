#include "treesample/blackbox/black_box.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "treesample/blackbox/black_box_search.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/families/family.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// All pairs of binary variables, with normal coefficients.
struct Pairs {
  Pairs(int n, std::uint64_t seed, double scale) : random(seed), weights(n * n), width(n) {
    for (double& weight : weights) weight = scale * random.normal();
  }
  double operator()(std::span<const int> x) const {
    double sum = 0.0;
    for (int i = 0; i < width; ++i) {
      for (int j = 0; j <= i; ++j) sum += weights[i * width + j] * (2 * x[i] - 1) * (i == j ? 1 : 2 * x[j] - 1);
    }
    return sum;
  }
  Random random;
  std::vector<double> weights;
  int width;
};

FactorGraph with_function(const std::vector<int>& num_states, const Factor::Function& function) {
  FactorGraph graph;
  std::vector<int> scope;
  for (const int k : num_states) scope.push_back(graph.add_variable(k));
  graph.add_factor(Factor::function(scope, function));
  return graph;
}

void next(Assignment& x, const std::vector<int>& num_states) {
  for (std::size_t v = x.size(); v-- > 0;) {
    if (++x[v] < num_states[v]) return;
    x[v] = 0;
  }
}

double total_variation(const Approximation& approximation, const FactorGraph& graph) {
  std::vector<int> num_states;
  std::vector<double> truth, found;
  for (int v = 0; v < graph.num_variables(); ++v) num_states.push_back(graph.num_states(v));
  Assignment x(num_states.size(), 0);
  const auto size = static_cast<std::size_t>(std::llround(std::exp(graph.log_num_configurations())));
  double sum = 0.0;
  for (std::size_t i = 0; i < size; ++i, next(x, num_states)) {
    truth.push_back(graph.log_density(x));
    found.push_back(approximation.log_prob(x));
    sum += std::exp(found.back());
  }
  EXPECT_NEAR(sum, 1.0, 1e-9);
  const double log_z = log_sum_exp(truth);
  double distance = 0.0;
  for (std::size_t i = 0; i < size; ++i) distance += 0.5 * std::abs(std::exp(truth[i] - log_z) - std::exp(found[i]));
  return distance;
}

TEST(BlackBox, EverythingToldIsExact) {
  const Pairs pairs(6, 1, 0.7);
  const FactorGraph graph = with_function(std::vector<int>(6, 2), pairs);
  BlackBox box(Domain{.num_states = std::vector<int>(6, 2)}, {.looks_for_noise = false});
  std::set<Assignment> asked;
  while (true) {
    const std::vector<Assignment> next = box.ask(7);
    if (next.empty()) break;
    for (const Assignment& x : next) {
      EXPECT_TRUE(asked.insert(x).second);
      box.tell(x, pairs(x));
    }
  }
  EXPECT_EQ(asked.size(), 64U);
  const BlackBoxAnswer answer = box.answer();
  EXPECT_TRUE(answer.is_exact);
  EXPECT_NEAR(answer.log_z, enumerate(graph).log_z, 1e-10);
  EXPECT_LT(total_variation(*answer.approximation, graph), 1e-10);
}

TEST(BlackBox, PairsAreLearnedFromFewValues) {
  const Pairs pairs(12, 3, 0.3);
  const std::vector<int> num_states(12, 2);
  BlackBox box(Domain{.num_states = num_states}, {.seed = 1});
  for (int i = 0; i < 250; ++i) {
    const Assignment x = box.ask(1).at(0);
    box.tell(x, pairs(x));
  }
  EXPECT_LT(total_variation(*box.answer().approximation, with_function(num_states, pairs)), 0.1);
}

// A grid of pairs, which a few hundred values determine: from then on it stays exact, however many more are told.
TEST(BlackBox, WhatIsExactStaysExactWithMoreValues) {
  const FamilyInstance grid = make_family("ising", {.seed = 13, .values = {{"n", 4}}});
  const FactorGraph graph =
      with_function(std::vector<int>(16, 2), [&](std::span<const int> x) { return grid.graph.log_density(x); });
  BlackBox box(graph, {.seed = 13, .looks_for_noise = false});
  int num_told = 0;
  for (const int count : {100, 150, 280, 300, 400, 500}) {
    for (; num_told < count; ++num_told) {
      const Assignment x = box.ask(1).front();
      box.tell(x, graph.log_density(x));
    }
    const double variation = total_variation(*box.answer().approximation, graph);
    if (count >= 280) EXPECT_LT(variation, 1e-6) << count;  // fewer values do not determine all pairs
  }
}

TEST(BlackBox, SameSeedSameBits) {
  const Pairs pairs(9, 5, 0.5);
  std::vector<Assignment> first;
  for (int run = 0; run < 2; ++run) {
    BlackBox box(Domain{.num_states = std::vector<int>(9, 2)}, {.seed = 4});
    std::vector<Assignment> asked;
    for (int i = 0; i < 12; ++i) {
      for (const Assignment& x : box.ask(5)) {
        asked.push_back(x);
        box.tell(x, pairs(x));
      }
    }
    if (run == 0) first = asked;
    EXPECT_EQ(asked, first);
  }
}

TEST(BlackBox, WhatTablesForbidIsNeverAsked) {
  FactorGraph graph = with_function({3, 3, 3}, [](std::span<const int> x) { return 0.1 * x[0] * x[2]; });
  std::vector<double> differ(9, 0.0);
  for (int a = 0; a < 3; ++a) differ[static_cast<std::size_t>(4 * a)] = kNegInf;
  graph.add_table({0, 1}, differ);
  BlackBox box(graph, {});
  int num_asked = 0;
  for (std::vector<Assignment> next = box.ask(4); !next.empty(); next = box.ask(4)) {
    for (const Assignment& x : next) {
      EXPECT_NE(x[0], x[1]);
      box.tell(x, graph.factor(0).function()(x));
      ++num_asked;
    }
  }
  EXPECT_EQ(num_asked, 18 + 1);  // one of them again, because of noise
  EXPECT_TRUE(box.answer().is_exact);
  EXPECT_NEAR(box.answer().log_z, enumerate(graph).log_z, 1e-10);
}

// Values of one part of the variables hold for all configurations of the others.
TEST(BlackBox, FunctionsOfPartsAreLearnedOverTheirScopes) {
  const Pairs left(6, 7, 0.5), right(6, 8, 0.5);
  FactorGraph graph;
  for (int v = 0; v < 10; ++v) graph.add_variable(2);
  graph.add_factor(Factor::function({0, 1, 2, 3, 4, 5}, left));
  graph.add_factor(Factor::function({9, 8, 7, 6, 5, 4}, right));
  BlackBox box(graph, {});
  for (int i = 0; i < 200; ++i) {
    const Assignment x = box.ask(1).at(0);
    for (int m = 0; m < 2; ++m) {
      std::vector<int> states;
      for (const int v : graph.factor(m).scope()) states.push_back(x[v]);
      box.tell_function(m, states, graph.factor(m).function()(states));
    }
    box.tell_done(x);
  }
  EXPECT_LT(total_variation(*box.answer().approximation, graph), 0.02);
}

// A fifth fails, anywhere: so does a fifth of what was not asked.
TEST(BlackBox, FailuresAtRandomAreNotLowValues) {
  const Pairs pairs(10, 11, 0.4);
  BlackBox box(Domain{.num_states = std::vector<int>(10, 2)}, {.seed = 2});
  std::vector<Assignment> failed;
  for (int i = 0; i < 150; ++i) {
    const Assignment x = box.ask(1).at(0);
    if (i % 5 == 0) {
      box.tell_failed(x, "diverged");
      failed.push_back(x);
    } else {
      box.tell(x, pairs(x));
    }
  }
  const BlackBoxAnswer answer = box.answer();
  for (const Assignment& x : failed) EXPECT_EQ(answer.approximation->log_prob(x), kNegInf);
  const double log_z = enumerate(with_function(std::vector<int>(10, 2), pairs)).log_z;
  EXPECT_NEAR(answer.log_z, log_z + std::log(0.8), 0.5);
  EXPECT_EQ(answer.num_failed, 30);
  EXPECT_EQ(answer.why_failed, "diverged");
  EXPECT_EQ(answer.remarks.size(), 1U);
  EXPECT_LT(answer.log_lower, log_z);
}

// What fails where two variables agree is improbable where it was not asked.
TEST(BlackBox, RegionsWhereItFailsAreLearned) {
  const Pairs pairs(10, 12, 0.3);
  BlackBox box(Domain{.num_states = std::vector<int>(10, 2)}, {.seed = 3});
  for (int i = 0; i < 150; ++i) {
    const Assignment x = box.ask(1).at(0);
    if (x[2] == x[7]) {
      box.tell_failed(x);
    } else {
      box.tell(x, pairs(x));
    }
  }
  const BlackBoxAnswer answer = box.answer();
  double failing = 0.0;
  Assignment x(10, 0);
  for (int i = 0; i < 1024; ++i, next(x, std::vector<int>(10, 2))) {
    if (x[2] == x[7]) failing += std::exp(answer.approximation->log_prob(x));
  }
  EXPECT_LT(failing, 0.02);
}

TEST(BlackBox, NoiseIsFoundByRepeatsAndNothingIsCertified) {
  const Pairs pairs(8, 14, 0.4);
  BlackBox box(Domain{.num_states = std::vector<int>(8, 2)}, {.seed = 5});
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const Assignment x = box.ask(1).at(0);
    box.tell(x, pairs(x) + 0.5 * random.normal());
  }
  const BlackBoxAnswer answer = box.answer();
  ASSERT_TRUE(answer.noise.is_there);
  EXPECT_NEAR(*answer.noise.sd, 0.5, 0.25);
  EXPECT_EQ(answer.log_lower, kNegInf);
  EXPECT_FALSE(answer.is_exact);
  EXPECT_EQ(answer.remarks.size(), 1U);
  EXPECT_LT(total_variation(*answer.approximation, with_function(std::vector<int>(8, 2), pairs)), 0.2);
}

TEST(BlackBox, ValuesThatDifferAreAnErrorWhereNoiseIsExcluded) {
  BlackBox box(Domain{.num_states = {2, 2}}, {.looks_for_noise = false});
  box.tell(Assignment{0, 1}, 1.0);
  box.tell(Assignment{0, 1}, 1.0);
  EXPECT_EQ(box.num_told(), 1);
  EXPECT_THROW(box.tell(Assignment{0, 1}, 1.5), Error);
  EXPECT_EQ(box.told().size(), 2U);
}

TEST(BlackBox, ASavedBoxGoesOnWithTheSameBits) {
  const Pairs pairs(9, 15, 0.4);
  const Domain domain{.num_states = std::vector<int>(9, 2)};
  const auto evaluate = [&](BlackBox& box, const Assignment& x) {
    if (x[0] + x[1] + x[2] == 3) {
      box.tell_failed(x, "no \"value\"");
    } else {
      box.tell(x, x[3] + x[4] == 0 ? kNegInf : pairs(x));
    }
  };
  BlackBox box(domain, {.seed = 7});
  for (int i = 0; i < 20; ++i) {
    for (const Assignment& x : box.ask(3)) evaluate(box, x);
  }
  const std::vector<Assignment> open = box.ask(4);
  for (const Assignment& x : box.ask_check(5)) evaluate(box, x);
  BlackBox other(domain, {.seed = 7});
  other.load(box.save());
  EXPECT_EQ(other.num_told(), box.num_told());
  EXPECT_EQ(other.save(), box.save());
  for (int i = 0; i < 10; ++i) {
    const std::vector<Assignment> asked = box.ask(3);
    EXPECT_EQ(other.ask(3), asked);
    for (const Assignment& x : asked) {
      evaluate(box, x);
      evaluate(other, x);
    }
  }
  EXPECT_EQ(other.answer().log_z, box.answer().log_z);
  BlackBox wrong(Domain{.num_states = {2, 2}});
  EXPECT_THROW(wrong.load(box.save()), Error);
  for (const char* text :
       {"", "{}", "[1]", R"({"format": "treesample black box 1", "states": [2, 2], "events": [["ask"]]})",
        R"({"format": "treesample black box 1", "states": [2, 2], "events": [["tell", 0, [0, 2], 1]]})"}) {
    EXPECT_THROW(BlackBox(Domain{.num_states = {2, 2}}).load(text), Error) << text;
  }
}

TEST(BlackBox, EveryValueTeachesWhoeverAsked) {
  const Pairs pairs(11, 13, 0.3);
  const std::vector<int> num_states(11, 2);
  BlackBox box(Domain{.num_states = num_states});
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    Assignment x(11);
    for (int& state : x) state = static_cast<int>(random.below(2));
    box.tell(x, pairs(x));
  }
  EXPECT_LT(total_variation(*box.answer().approximation, with_function(num_states, pairs)), 0.15);
}

TEST(BlackBox, StrangeValuesLoseNothing) {
  for (const double value : {kNegInf, 1e300, -1e300, 0.0}) {
    BlackBox box(Domain{.num_states = {3, 3, 3, 3}});
    for (int i = 0; i < 40; ++i) {
      const Assignment x = box.ask(1).at(0);
      box.tell(x, i % 3 == 0 ? value : value * 0.5);
    }
    const BlackBoxAnswer answer = box.answer();
    EXPECT_FALSE(std::isnan(answer.log_z)) << value;
    EXPECT_EQ(answer.best.has_value(), value != kNegInf);
    for (const auto& probabilities : answer.marginals) {
      for (const double p : probabilities) EXPECT_FALSE(std::isnan(p)) << value;
    }
  }
}

// A distribution whose probabilities add up to 0 is none.
TEST(BlackBox, NothingPossibleHasNoDistribution) {
  FactorGraph graph;
  graph.add_variable(3);
  graph.add_table({0}, {kNegInf, 0.0, kNegInf});
  graph.add_factor(Factor::function({0}, [](std::span<const int> x) { return x[0] == 0 ? 1.0 : kNegInf; }));
  BlackBox box(graph);
  for (int x = 0; x < 3; ++x) box.tell_function(1, std::vector{x}, x == 0 ? 1.0 : kNegInf);
  const BlackBoxAnswer answer = box.answer();
  EXPECT_EQ(answer.log_z, kNegInf);
  EXPECT_EQ(answer.approximation, nullptr);
}

TEST(BlackBox, MistakesAreNamed) {
  BlackBox box(Domain{.num_states = {2, 3}});
  EXPECT_THROW(box.tell(Assignment{0, 3}, 1.0), Error);
  EXPECT_THROW(box.tell(Assignment{0}, 1.0), Error);
  EXPECT_THROW(box.tell(Assignment{0, 0}, std::nan("")), Error);
  EXPECT_THROW(box.tell(Assignment{0, 0}, HUGE_VAL), Error);
  EXPECT_THROW(box.ask(-1), Error);
  EXPECT_THROW(BlackBox(Domain{.num_states = {}}), Error);
  FactorGraph tables;
  tables.add_variable(2);
  tables.add_table({0}, {0.0, 1.0});
  EXPECT_THROW(BlackBox(tables, {}), Error);
}

TEST(BlackBoxSearch, BudgetHoldsAndBoundsCover) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Pairs pairs(10, 20 + seed, 0.5);
    int num_calls = 0;
    FactorGraph graph = with_function(std::vector<int>(10, 2), [&](std::span<const int> x) {
      ++num_calls;
      return pairs(x);
    });
    const double log_z = enumerate(with_function(std::vector<int>(10, 2), pairs)).log_z;
    const BlackBoxResult result =
        black_box_search(graph, {.budget = 200, .unit = BudgetUnit::kCall}, {.box = {.seed = seed}});
    EXPECT_EQ(num_calls, 200);
    EXPECT_LE(result.report.log_z.lower, log_z);
    EXPECT_NEAR(result.report.estimate, log_z, 0.2);
    ASSERT_TRUE(result.report.errors);
    if (result.report.errors->no_error.empty()) {
      EXPECT_LE(result.report.errors->interval.lower, log_z + 1e-9);
      EXPECT_GE(result.report.errors->interval.upper, log_z - 1e-9);
    }
  }
}

// So that a journal pays for the first calls of a longer run.
TEST(BlackBoxSearch, LargerBudgetsAskTheSameFirst) {
  const Pairs pairs(10, 31, 0.5);
  std::vector<Assignment> asked[2];
  for (int run = 0; run < 2; ++run) {
    FactorGraph graph = with_function(std::vector<int>(10, 2), [&](std::span<const int> x) {
      asked[run].emplace_back(x.begin(), x.end());
      return pairs(x);
    });
    black_box_search(graph, {.budget = run == 0 ? 100 : 180, .unit = BudgetUnit::kCall});
  }
  for (int i = 0; i < 90; ++i) EXPECT_EQ(asked[0][i], asked[1][i]) << i;
}

TEST(BlackBoxSearch, EverythingAskedIsExact) {
  const Pairs pairs(6, 41, 0.5);
  const FactorGraph graph = with_function(std::vector<int>(6, 2), pairs);
  const BlackBoxResult result =
      black_box_search(graph, {.budget = 1000, .unit = BudgetUnit::kCall}, {.box = {.looks_for_noise = false}});
  EXPECT_EQ(result.report.stop, StopReason::kExact);
  EXPECT_TRUE(result.report.log_z.is_exact());
  EXPECT_EQ(result.report.spent.calls, 64);
  EXPECT_NEAR(result.report.estimate, enumerate(graph).log_z, 1e-9);
}

}  // namespace
}  // namespace treesample
