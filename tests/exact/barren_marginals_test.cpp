// Marginals of barren variables with several parents, against enumeration.
#include "treesample/exact/barren_marginals.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "treesample/exact/enumeration.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/reduce/summed_model.hpp"

namespace treesample {
namespace {

// Each variable depends on up to `most_parents` of the `reach` before it.
FactorGraph network(Random& random, int num_variables, int most_parents, int reach) {
  FactorGraph graph;
  for (int v = 0; v < num_variables; ++v) graph.add_variable(2 + static_cast<int>(random.below(2)));
  for (int v = 0; v < num_variables; ++v) {
    std::vector<int> scope;
    for (const int back : random.permutation(std::min(v, reach))) {
      if (std::ssize(scope) < most_parents) scope.push_back(v - 1 - back);
    }
    std::size_t num_rows = 1;
    for (const int u : scope) num_rows *= static_cast<std::size_t>(graph.num_states(u));
    scope.push_back(v);
    std::vector<double> table;
    for (std::size_t row = 0; row < num_rows; ++row) {
      std::vector<double> weights;
      double total = 0.0;
      for (int a = 0; a < graph.num_states(v); ++a) total += weights.emplace_back(0.05 + random.uniform());
      for (const double weight : weights) table.push_back(std::log(weight / total));
    }
    graph.add_table(scope, table);
  }
  return graph;
}

Marginals found_with(const FactorGraph& graph, double most_work, const Limits& limits) {
  const SummedModel summed(graph);
  Marginals known = summed.marginals(Elimination(summed.graph()).marginals());
  add_barren_marginals(graph, known, most_work, limits, {}, {});
  return known;
}

TEST(BarrenMarginals, EqualEnumerationWholeAndInParts) {
  int num_missing = 0, num_all = 0;
  for (int trial = 0; trial < 30; ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "barren marginals");
    FactorGraph graph = network(random, 9, 3, 6);
    if (trial % 2 == 0) graph.add_table({3}, std::vector<double>(static_cast<std::size_t>(graph.num_states(3)), -0.5));
    const Marginals truth = enumerate(graph).marginals;
    for (const double most_work : {1e9, 3000.0, 300.0}) {
      const Marginals found = found_with(graph, most_work, {});
      bool is_whole = true;
      for (std::size_t v = 0; v < truth.size(); ++v) {
        is_whole = is_whole && !found[v].empty();
        for (std::size_t a = 0; a < found[v].size(); ++a) EXPECT_NEAR(found[v][a], truth[v][a], 1e-12) << v;
      }
      EXPECT_TRUE(is_whole || most_work < 1e9);
      ++(is_whole ? num_all : num_missing);
    }
  }
  EXPECT_GT(num_all, 30);
  EXPECT_GT(num_missing, 10);
}

// Elimination of all of it takes too much memory; each variable with its ancestors does not.
TEST(BarrenMarginals, AreExactWhereTheWholeModelIsTooLarge) {
  Random random(5, "wide network");
  FactorGraph graph;
  for (int v = 0; v < 40; ++v) graph.add_variable(2);
  const auto row = [&] {
    const double p = 0.1 + 0.8 * random.uniform();
    return std::pair(std::log(p), std::log1p(-p));
  };
  for (int v = 0; v < 40; ++v) {
    const auto [first, second] = row();
    graph.add_table({v}, {first, second});
  }
  for (int v = 0; v < 40; ++v) {
    for (int u = 0; u < v; ++u) {
      const int child = graph.add_variable(2);
      std::vector<double> table;
      for (int i = 0; i < 4; ++i) {
        const auto [first, second] = row();
        table.insert(table.end(), {first, second});
      }
      graph.add_table({u, v, child}, table);
    }
  }
  const Answer answer = infer(graph, {.best = false}, {.bytes = 1'000'000});
  EXPECT_TRUE(answer.is_exact);
  EXPECT_EQ(answer.marginals_from, "exact");
}

}  // namespace
}  // namespace treesample
