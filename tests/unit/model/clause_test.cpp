// Clauses as factors: their values, what reductions make of them, and counting with them.
#include "model/clause.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/configurations.hpp"
#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/count/count.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/reduce/evidence.hpp"
#include "treesample/reduce/propagator.hpp"
#include "treesample/reduce/simplify.hpp"

namespace treesample {
namespace {

// A random model of clauses over variables with up to four states, and one table of weights.
FactorGraph random_clauses(Random& random) {
  FactorGraph graph;
  const int size = 3 + static_cast<int>(random.below(5));
  for (int v = 0; v < size; ++v) graph.add_variable(2 + static_cast<int>(random.below(3)));
  for (std::uint64_t c = 0; c < random.below(12); ++c) {
    std::vector<int> scope = random.permutation(size), num_states;
    scope.resize(1 + random.below(4) % static_cast<std::uint64_t>(size));
    std::vector<ClauseLiteral> literals;
    for (const int v : scope) {
      num_states.push_back(graph.num_states(v));
      literals.push_back(
          {static_cast<int>(random.below(static_cast<std::uint64_t>(graph.num_states(v)))), random.below(2) == 0});
    }
    graph.add_factor(Factor::clause(scope, literals, num_states));
  }
  std::vector<double> weights;
  for (int s = 0; s < graph.num_states(0); ++s) weights.push_back(random.normal());
  graph.add_table({0}, weights);
  return graph;
}

// The same model with a table for each clause.
FactorGraph of_tables(const FactorGraph& graph) {
  FactorGraph tables;
  for (int v = 0; v < graph.num_variables(); ++v) tables.add_variable(graph.variable(v));
  for (const Factor& factor : graph.factors()) tables.add_table(factor.scope(), factor.log_values());
  return tables;
}

TEST(ClauseFactor, HoldsWhereALiteralDoes) {
  FactorGraph graph = testing::variables({2, 3, 4});
  graph.add_factor(Factor::clause({2, 0, 1}, {{3}, {0}, {1, false}}, {4, 2, 3}));
  EXPECT_TRUE(graph.factor(0).is_table());
  EXPECT_TRUE(graph.factor(0).is_clause());
  EXPECT_TRUE(graph.has_only_tables());
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 3; ++b) {
      for (int c = 0; c < 4; ++c) {
        const bool holds = c == 3 || a == 0 || b != 1;
        EXPECT_EQ(graph.log_density(std::vector<int>{a, b, c}), holds ? 0.0 : kNegInf);
        EXPECT_EQ(graph.factor(0).log_values()[static_cast<std::size_t>((c * 2 + a) * 3 + b)], holds ? 0.0 : kNegInf);
      }
    }
  }
}

TEST(ClauseFactor, OfNoLiteralIsImpossible) {
  FactorGraph graph = testing::variables(1, 2);
  graph.add_factor(Factor::clause({}, {}));
  EXPECT_EQ(graph.log_density(std::vector<int>{0}), kNegInf);
}

TEST(ClauseFactor, RefusesStatesThatDoNotExist) {
  testing::expect_error(ErrorCode::kArgument, "allowed", [] { Factor::clause({0}, {{2}}); });
  testing::expect_error(ErrorCode::kArgument, "2 literals for a scope of 1", [] { Factor::clause({0}, {{0}, {1}}); });
  FactorGraph graph = testing::variables(1, 3);
  testing::expect_error(ErrorCode::kArgument, "to have 2 states, it has 3",
                        [&] { graph.add_factor(Factor::clause({0}, {{1}})); });
}

TEST(ClauseFactor, LongOnesHaveNoTable) {
  constexpr int kSize = 1000;
  FactorGraph graph = testing::variables(kSize, 2);
  graph.add_factor(Factor::clause(testing::integers(kSize), std::vector<ClauseLiteral>(kSize, {1})));
  EXPECT_TRUE(has_long_clause(graph));
  EXPECT_FALSE(graph.factor(0).has_table());
  testing::expect_error(ErrorCode::kResource, "1000 literals", [&] { (void)graph.factor(0).log_values(); });
  const CountResult result = count(graph);
  ASSERT_TRUE(result.is_solved);
  EXPECT_NEAR(result.report.log_z.lower, kSize * std::log(2.0), 1e-9);  // all but one of 2^1000
  // Observed as false but for one literal, the last one is forced.
  Evidence evidence;
  for (int v = 1; v < kSize; ++v) evidence.push_back({v, 0});
  const SimplifiedModel left = simplify(graph, evidence);
  EXPECT_EQ(left.model.fixed_states[0], 1);
}

TEST(ClauseFactor, MakerSharesLiterals) {
  ClauseMaker maker;
  const Factor a = maker.make({0, 1, 2}, {{1}, {0}, {1}}), b = maker.make({3, 4, 5}, {{1}, {0}, {1}});
  EXPECT_EQ(&a.literals(), &b.literals());
  EXPECT_EQ(b.scope(), (std::vector<int>{3, 4, 5}));
}

TEST(ClauseFactor, AgreesWithItsTableInAllReductions) {
  Random random(5, "clauses");
  for (int trial = 0; trial < 300; ++trial) {
    const FactorGraph graph = random_clauses(random), tables = of_tables(graph);
    const double log_z = enumerate(tables).log_z;
    // Evidence.
    const int v = static_cast<int>(random.below(static_cast<std::uint64_t>(graph.num_variables())));
    const Evidence evidence = {{v, static_cast<int>(random.below(static_cast<std::uint64_t>(graph.num_states(v))))}};
    const double observed = enumerate(condition(tables, evidence).graph).log_z;
    const double of_clauses_observed = enumerate(of_tables(condition(graph, evidence).graph)).log_z;
    if (observed != of_clauses_observed) EXPECT_NEAR(of_clauses_observed, observed, 1e-12);
    // Propagation leaves what it leaves of tables.
    const Propagator of_clauses(graph), of_entries(tables);
    ASSERT_EQ(of_clauses.is_consistent(), of_entries.is_consistent());
    for (int u = 0; u < graph.num_variables() && of_clauses.is_consistent(); ++u) {
      for (int s = 0; s < graph.num_states(u); ++s) EXPECT_EQ(of_clauses.is_left(u, s), of_entries.is_left(u, s));
    }
    // Counting, with and without a circuit.
    for (const bool keeps_circuit : {false, true}) {
      const CountResult result = count(graph, {}, {.most_eliminated_entries = 0, .keep_circuit = keeps_circuit});
      ASSERT_TRUE(result.is_solved);
      EXPECT_LE(result.report.log_z.lower, log_z + 1e-12);
      EXPECT_GE(result.report.log_z.upper, log_z - 1e-12);
      if (result.circuit) EXPECT_NEAR(result.circuit->log_z().lower, log_z, 1e-9);
    }
  }
}

}  // namespace
}  // namespace treesample
