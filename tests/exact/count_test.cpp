// count() against enumeration, elimination and known numbers of solutions.
#include "treesample/count/count.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/trials.hpp"
#include "support/zero_models.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/reduce/evidence.hpp"

namespace treesample {
namespace {

using testing::below;
using testing::num_trials;
using testing::random_csp;
using testing::RandomCspOptions;

// `log_z` may be off by its own rounding.
void expect_contains(const CountResult& result, double log_z, double tolerance = 1e-9) {
  EXPECT_FALSE(std::isnan(result.report.log_z.lower));
  EXPECT_FALSE(std::isnan(result.report.log_z.upper));
  EXPECT_LE(result.report.log_z.lower, result.report.log_z.upper);
  EXPECT_LE(result.report.log_z.lower, log_z + tolerance);
  EXPECT_GE(result.report.log_z.upper, log_z - tolerance);
}

void expect_solved(const CountResult& result, double log_z, double tolerance = 1e-9) {
  EXPECT_TRUE(result.is_solved);
  EXPECT_TRUE(result.report.log_z.is_exact());
  expect_contains(result, log_z, tolerance);
}

std::vector<CountOptions> all_ways(bool has_reductions = false) {
  std::vector<CountOptions> ways;
  for (const bool has_cache : {true, false}) {
    for (const bool has_learning : {true, false}) {
      ways.push_back({.has_cache = has_cache,
                      .has_learning = has_learning,
                      .has_reductions = has_reductions,
                      .most_eliminated_entries = 0});
    }
  }
  return ways;
}

// Returns the number of learned clauses.
std::int64_t expect_solved_in_all_ways(const FactorGraph& graph, double log_z, bool has_reductions) {
  std::int64_t num_learned = 0;
  for (const CountOptions& way : all_ways(has_reductions)) {
    const CountResult result = count(graph, {}, way);
    expect_solved(result, log_z);
    num_learned += result.report.num_learned;
  }
  return num_learned;
}

// Without reductions and elimination, which would leave little to search.
CountOptions search_alone() { return {.has_reductions = false, .most_eliminated_entries = 0}; }
CountResult count_by_search(const FactorGraph& graph) { return count(graph, {}, search_alone()); }

RandomCspOptions random_kind(Random& random, int max_variables, int max_states) {
  RandomCspOptions kind;
  kind.num_variables = 1 + below(random, max_variables);
  kind.max_states = 2 + below(random, max_states - 1);
  kind.num_factors = 1 + below(random, 2 * kind.num_variables);
  kind.max_arity = 1 + below(random, 4);
  kind.zeros = 0.3 + 0.6 * random.uniform();
  kind.flat = 0.5 * below(random, 3);
  kind.scale = std::pow(10.0, 3.0 * random.uniform() - 1.0);
  kind.num_levels = below(random, 4);  // tables that are settled before all their variables are fixed
  kind.num_blocks = 1 + below(random, 4);
  return kind;
}

// Observes a fifth of the variables, in random states.
Evidence random_evidence(const FactorGraph& graph, Random& random) {
  Evidence evidence;
  for (int v = 0; v < graph.num_variables(); ++v) {
    if (random.uniform() < 0.2) evidence.push_back({v, below(random, graph.num_states(v))});
  }
  return evidence;
}

TEST(Count, EqualsEnumerationOnRandomModelsWithZeros) {
  int num_possible = 0;
  const int num = num_trials(20'000);
  for (int trial = 0; trial < num; ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "count enumeration");
    const FactorGraph model = random_csp(random, random_kind(random, 8, 4));
    const FactorGraph graph = trial % 2 == 0 ? model : condition(model, random_evidence(model, random)).graph;
    const double log_z = enumerate(graph).log_z;
    num_possible += log_z == kNegInf ? 0 : 1;
    expect_solved_in_all_ways(graph, log_z, trial % 3 == 0);
    CountOptions stopped;
    stopped.has_reductions = trial % 4 == 0;
    stopped.most_eliminated_entries = 0;
    stopped.most_decisions = below(random, 12);
    expect_contains(count(graph, {}, stopped), log_z);
    if (HasFailure()) return;
  }
  EXPECT_GT(num_possible, num / 5);
  EXPECT_LT(num_possible, num * 9 / 10);
}

// Components, impossible components beside possible ones and learned clauses need more variables than can be
// enumerated.
TEST(Count, EqualsEliminationOnLargerRandomModels) {
  std::int64_t num_hits = 0, num_learned = 0;
  for (int trial = 0; trial < num_trials(600); ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "count elimination");
    RandomCspOptions kind = random_kind(random, 40, 3);
    kind.num_variables = 15 + below(random, 30);
    kind.num_factors = kind.num_variables + below(random, kind.num_variables);
    kind.max_arity = 2 + below(random, 2);
    kind.zeros = 0.15 + 0.3 * random.uniform();
    if (trial % 2 == 0) {  // near the ratio with many contradictions
      kind.num_variables = 15 + below(random, 10);
      kind.max_states = 2 + below(random, 2);
      kind.max_arity = 3;
      kind.num_factors = kind.num_variables * 5 / 2;
      kind.zeros = 0.15 + 0.15 * random.uniform();
    }
    kind.num_blocks = 1 + below(random, 6);
    kind.across_blocks = 0.3 * random.uniform();
    const FactorGraph graph = random_csp(random, kind);
    if (plan_elimination(graph).num_entries > 3e6) continue;
    const double log_z = Elimination(graph, {}, {.goal = EliminationGoal::kLogZ}).log_z();
    for (const CountOptions& way : all_ways(trial % 3 == 0)) {
      CountOptions options = way;
      // Without a cache or learning some models take long; they give bounds.
      if (!way.has_cache || !way.has_learning) options.most_decisions = 20'000;
      const CountResult result = count(graph, {}, options);
      if (result.is_solved) {
        expect_solved(result, log_z, 1e-8);
      } else {
        expect_contains(result, log_z, 1e-8);
      }
      num_hits += result.report.num_cache_hits;
      num_learned += result.report.num_learned;
    }
    CountOptions stopped;
    stopped.has_reductions = trial % 4 == 0;
    stopped.most_eliminated_entries = 0;
    stopped.most_decisions = below(random, 200);
    expect_contains(count(graph, {}, stopped), log_z, 1e-8);
    if (HasFailure()) return;
  }
  EXPECT_GT(num_hits, 1000);
  EXPECT_GT(num_learned, 50);
}

// Impossible components beside possible ones, where counts must be removed from the cache again (docs/methods/zeros.md,
// section 4).
TEST(Count, EqualsEliminationOnBlocksOfClauses) {
  std::int64_t num_learned = 0;
  int num_possible = 0;
  for (int trial = 0; trial < num_trials(150); ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "count blocks");
    const FactorGraph graph = testing::clause_blocks(random, 2 + below(random, 3), 4 + below(random, 8),
                                                     2.0 + 2.5 * random.uniform(), 0.4 * random.uniform());
    if (plan_elimination(graph).num_entries > 3e6) continue;
    const double log_z = Elimination(graph, {}, {.goal = EliminationGoal::kLogZ}).log_z();
    num_possible += log_z == kNegInf ? 0 : 1;
    num_learned += expect_solved_in_all_ways(graph, log_z, trial % 3 == 0);
    if (HasFailure()) return;
  }
  EXPECT_GT(num_learned, 1000);
  EXPECT_GT(num_possible, 50);
}

TEST(Count, EqualsEliminationOnRandomClauses) {
  std::int64_t num_learned = 0;
  for (int trial = 0; trial < num_trials(100); ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "count clauses");
    const int num_variables = 16 + below(random, 5);
    const FactorGraph graph = testing::random_clauses(random, num_variables,
                                                      static_cast<int>(num_variables * (2.0 + 3.0 * random.uniform())));
    const double log_z = Elimination(graph, {}, {.goal = EliminationGoal::kLogZ}).log_z();
    num_learned += expect_solved_in_all_ways(graph, log_z, trial % 3 == 0);
    if (HasFailure()) return;
  }
  EXPECT_GT(num_learned, 100);
}

TEST(Count, KnowsQueens) {
  const std::vector<double> solutions{1, 0, 0, 2, 10, 4, 40, 92, 352, 724};
  for (int size = 1; size <= 10; ++size) {
    SCOPED_TRACE(size);
    expect_solved(count_by_search(testing::queens(size)), std::log(solutions[size - 1]));
  }
}

TEST(Count, KnowsColourings) {
  for (int size = 3; size <= 40; size += 3) {
    for (int colours = 2; colours <= 5; ++colours) {
      SCOPED_TRACE(::testing::Message() << size << " variables, " << colours << " colours");
      const double sign = size % 2 == 0 ? 1.0 : -1.0;
      const double number = std::pow(colours - 1.0, size) + sign * (colours - 1.0);
      expect_solved(count_by_search(testing::coloured_cycle(size, colours)), std::log(number));
    }
  }
  // 3-colourings of grids, OEIS A078099 times 3 for squares.
  expect_solved(count_by_search(testing::coloured_grid(2, 2, 3)), std::log(18.0));
  expect_solved(count_by_search(testing::coloured_grid(3, 3, 3)), std::log(246.0));
  expect_solved(count_by_search(testing::coloured_grid(4, 4, 3)), std::log(7812.0));
  expect_solved(count_by_search(testing::coloured_grid(5, 5, 3)), std::log(580986.0));
}

TEST(Count, KnowsPigeons) {
  expect_solved(count_by_search(testing::pigeons(5, 7)), std::log(7.0 * 6 * 5 * 4 * 3));
  const CountResult none = count_by_search(testing::pigeons(6, 5));
  EXPECT_TRUE(none.is_solved);
  EXPECT_EQ(none.report.log_z.lower, kNegInf);
  EXPECT_EQ(none.report.log_z.upper, kNegInf);
}

TEST(Count, KnowsParity) {
  testing::Circuit01 circuit;
  std::vector<int> inputs;
  for (int i = 0; i < 60; ++i) inputs.push_back(circuit.input());
  int last = inputs[0];
  for (int i = 1; i < 60; ++i) last = circuit.parity({last, inputs[i]});
  circuit.set(last, 1);
  expect_solved(count_by_search(circuit.graph), 59.0 * std::log(2.0));
}

TEST(Count, KnowsDivisors) {
  struct Case {
    int bits;
    unsigned long long product;
    double solutions;
  };
  // 143 = 11 * 13; 144 = 12 * 12, and with five bits also 6 * 24, 8 * 18, 9 * 16.
  for (const Case& c : {Case{4, 143, 2}, Case{4, 144, 1}, Case{5, 144, 7}, Case{4, 0, 31}, Case{6, 3599, 2},
                        Case{5, 961, 1}, Case{5, 527, 2}, Case{5, 541, 0}}) {
    SCOPED_TRACE(c.product);
    expect_solved(count_by_search(testing::multiplier(c.bits, c.product)), std::log(c.solutions));
  }
}

TEST(Count, ObeysItsMemoryLimit) {
  Random random(3, "count memory");
  const FactorGraph graph = testing::random_clauses(random, 60, 120);
  const CountResult whole = count_by_search(graph);
  ASSERT_TRUE(whole.is_solved);
  const Limits small{.bytes = whole.report.peak_bytes / 2};
  const CountResult result = count(graph, small, search_alone());
  EXPECT_LE(result.report.peak_bytes, small.bytes);
  EXPECT_GT(result.report.num_evicted, 0);
  expect_contains(result, whole.report.log_z.lower);
  // Too little memory even for the problem itself: bounds, and nothing else.
  const CountResult stopped = count(graph, {.bytes = 1000}, search_alone());
  EXPECT_FALSE(stopped.is_solved);
  EXPECT_EQ(stopped.report.stop, StopReason::kMemory);
  expect_contains(stopped, whole.report.log_z.lower);
}

TEST(Count, SameSeedSameBits) {
  Random random(5, "count bits");
  const FactorGraph graph = testing::random_clauses(random, 40, 100);
  const CountResult a = count_by_search(graph), b = count_by_search(graph);
  EXPECT_EQ(a.report.log_z.lower, b.report.log_z.lower);
  EXPECT_EQ(a.report.log_z.upper, b.report.log_z.upper);
  EXPECT_EQ(a.report.num_decisions, b.report.num_decisions);
}

TEST(Count, HasBoundsWhenItIsStoppedAtOnce) {
  const FactorGraph graph = testing::coloured_grid(6, 6, 3);
  const double log_z = count_by_search(graph).report.log_z.lower;
  for (const std::int64_t most : {0, 1, 2, 5, 10, 100}) {
    CountOptions options = search_alone();
    options.most_decisions = most;
    const CountResult result = count(graph, {}, options);
    EXPECT_FALSE(result.is_solved);
    EXPECT_EQ(result.report.stop, StopReason::kBudget);
    EXPECT_GE(result.report.log_z.lower, -1e-9);  // one colouring was found
    EXPECT_LT(result.report.log_z.upper, 36.5 * std::log(3.0));
    expect_contains(result, log_z);
  }
  const CountResult result = count(graph, {}, search_alone(), {.should_stop = [] { return true; }});
  EXPECT_EQ(result.report.stop, StopReason::kInterrupted);
  expect_contains(result, log_z);
  const CountResult late = count(graph, {.seconds = 0.0}, search_alone());
  EXPECT_EQ(late.report.stop, StopReason::kTime);
  expect_contains(late, log_z);
}

// The observer gets valid bounds, and can end the search at any of its reports.
TEST(Count, TellsItsObserverAndObeysIt) {
  Random random(3, "count memory");
  const FactorGraph graph = testing::random_clauses(random, 60, 120);
  int num_told = 0;
  const auto hear = [&](const Progress& now) {
    ++num_told;
    EXPECT_STREQ(now.phase, "counting");
  };
  const CountResult whole = count(graph, {}, search_alone(), {.progress = hear});
  EXPECT_EQ(whole.report.stop, StopReason::kExact);
  EXPECT_GT(num_told, 10);
  for (const int most : {1, 3, 10}) {
    num_told = 0;
    const auto check = [&](const Progress& now) {
      ++num_told;
      EXPECT_LE(now.log_z.lower, whole.report.log_z.upper);
      EXPECT_GE(now.log_z.upper, whole.report.log_z.lower);
    };
    const CountResult cut =
        count(graph, {}, search_alone(), {.progress = check, .should_stop = [&] { return num_told >= most; }});
    EXPECT_EQ(cut.report.stop, StopReason::kInterrupted);
    EXPECT_LE(num_told, most + 1);
    expect_contains(cut, whole.report.log_z.lower);
  }
}

TEST(Count, RefusesFunctionsAndBadOptions) {
  FactorGraph graph;
  graph.add_variable(2);
  CountOptions bad{.order_restarts = 0};
  EXPECT_THROW((void)count(graph, {}, bad), Error);
  EXPECT_THROW((void)count(graph, {.seconds = std::nan("")}), Error);
  graph.add_factor(Factor::function({0}, [](std::span<const int>) { return 0.0; }));
  EXPECT_THROW((void)count(graph), Error);
}

TEST(Count, ModelsWithoutVariablesAndConstants) {
  FactorGraph graph;
  expect_solved(count(graph), 0.0);
  graph.add_table({}, {2.5});
  expect_solved(count(graph), 2.5);
  graph.add_variable(7);
  expect_solved(count(graph), 2.5 + std::log(7.0));
  graph.add_table({}, {kNegInf});
  const CountResult none = count(graph);
  EXPECT_TRUE(none.is_solved);
  EXPECT_EQ(none.report.log_z.upper, kNegInf);
}

}  // namespace
}  // namespace treesample
