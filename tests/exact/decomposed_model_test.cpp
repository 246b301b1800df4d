// Tables that are made of small ones, against the tables themselves and against enumeration.
#include "treesample/exact/decomposed_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "exact/table_structure.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

// P(effect | causes) as a noisy-max has it, the effect last. State 0 of a cause proposes nothing. `wide`: by how much
// the proposals differ in size; a leak of 0 makes states impossible.
struct NoisyMax {
  std::vector<int> num_states;  // of the causes, and of the effect
  std::vector<double> table;    // not logarithms

  NoisyMax(Random& random, std::vector<int> sizes, double wide, bool has_leak) : num_states(std::move(sizes)) {
    const int num_effects = num_states.back();
    const auto proposal = [&](bool is_absent) {
      std::vector<double> chances(static_cast<std::size_t>(num_effects), 0.0);
      double rest = 0.0;
      for (int s = 1; s < num_effects && !is_absent; ++s) {
        rest += chances[s] = std::exp(-wide * random.uniform()) / num_effects * random.uniform();
      }
      chances[0] = 1.0 - rest;
      return chances;
    };
    std::vector<std::vector<std::vector<double>>> steps;
    for (std::size_t i = 0; i + 1 < num_states.size(); ++i) {
      auto& of_cause = steps.emplace_back();
      for (int x = 0; x < num_states[i]; ++x) of_cause.push_back(proposal(x == 0));
    }
    const std::vector<double> leak = proposal(!has_leak);
    std::vector<int> x(num_states.size() - 1, 0);
    const auto add_row = [&] {
      std::vector<double> z = leak;
      for (std::size_t i = 0; i < x.size(); ++i) {
        std::vector<double> next(z.size(), 0.0);
        for (int a = 0; a < num_effects; ++a) {
          for (int s = 0; s < num_effects; ++s) next[std::max(a, s)] += z[a] * steps[i][x[i]][s];
        }
        z = next;
      }
      table.insert(table.end(), z.begin(), z.end());
    };
    while (true) {
      add_row();
      std::size_t i = x.size();
      while (i > 0 && ++x[i - 1] == num_states[i - 1]) x[--i] = 0;
      if (i == 0) return;
    }
  }

  [[nodiscard]] std::vector<double> logs() const {
    std::vector<double> values;
    for (const double p : table) values.push_back(std::log(p));
    return values;
  }
  // With the effect observed.
  [[nodiscard]] std::vector<double> logs_at(int effect) const {
    std::vector<double> values;
    for (std::size_t e = static_cast<std::size_t>(effect); e < table.size();
         e += static_cast<std::size_t>(num_states.back()))
      values.push_back(std::log(table[e]));
    return values;
  }
};

TEST(TableStructure, FindsNoisyMaxNoisyOrAndWhatEvidenceLeaves) {
  for (int trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "noisy-max");
    const int num_effects = 2 + trial % 3;
    std::vector<int> sizes;
    for (int i = 0; i < 3 + trial % 4; ++i) sizes.push_back(2 + static_cast<int>(random.below(2)));
    sizes.push_back(num_effects);
    const NoisyMax noisy(random, sizes, trial % 5 == 0 ? 12.0 : 1.0, trial % 7 != 0);
    const auto found = table_structure(sizes, noisy.logs());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->kind, TableStructure::Kind::kMax);
    EXPECT_EQ(found->effect, static_cast<int>(sizes.size()) - 1);
    EXPECT_EQ(found->num_states, num_effects);
    EXPECT_LE(found->log_slack, 1e-8);
    if (num_effects > 2) continue;
    sizes.pop_back();
    const auto absent = table_structure(sizes, noisy.logs_at(0));
    ASSERT_TRUE(absent);
    EXPECT_EQ(absent->kind, TableStructure::Kind::kProduct);
    const auto present = table_structure(sizes, noisy.logs_at(1));
    ASSERT_TRUE(present);
    EXPECT_EQ(present->kind, TableStructure::Kind::kMax);
    EXPECT_EQ(present->effect, -1);
  }
}

TEST(TableStructure, IsNotFoundWhereOneEntryDiffers) {
  int num_refused = 0;
  for (int trial = 0; trial < 50; ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "not quite noisy");
    const std::vector<int> sizes = {2, 2, 3, 2, 2};
    const NoisyMax noisy(random, sizes, 1.0, true);
    std::vector<double> values = noisy.logs();
    values[random.below(values.size())] += 1e-6;
    EXPECT_FALSE(table_structure(sizes, values));
    std::vector<double> present = noisy.logs_at(1);
    present[random.below(present.size())] += 1e-6;
    num_refused += table_structure({{2, 2, 3, 2}}, present) ? 0 : 1;
  }
  EXPECT_EQ(num_refused, 50);
}

TEST(TableStructure, IsNotFoundInRandomTables) {
  for (int trial = 0; trial < 100; ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "random tables");
    std::vector<double> values(static_cast<std::size_t>(2 * 3 * 2 * 2));
    for (double& value : values) value = trial % 3 == 0 && random.below(4) == 0 ? kNegInf : 10.0 * random.normal();
    EXPECT_FALSE(table_structure({{2, 3, 2, 2}}, values));
  }
}

// Causes with priors, and effects of several of them, some of which are observed.
FactorGraph causes_and_effects(Random& random, int num_causes, int num_effects, bool is_observed, double wide) {
  FactorGraph graph;
  for (int v = 0; v < num_causes; ++v) graph.add_variable(2 + static_cast<int>(random.below(2)));
  for (int v = 0; v < num_causes; ++v) {
    std::vector<double> prior;
    for (int x = 0; x < graph.num_states(v); ++x) prior.push_back(wide * random.normal());
    graph.add_table({v}, prior);
  }
  for (int e = 0; e < num_effects; ++e) {
    std::vector<int> scope, sizes;
    for (const int v : random.permutation(num_causes)) {
      if (std::ssize(scope) < 4) scope.push_back(v);
    }
    for (const int v : scope) sizes.push_back(graph.num_states(v));
    const int num_states = is_observed ? 2 : 2 + e % 2;
    sizes.push_back(num_states);
    const NoisyMax noisy(random, sizes, 3.0 * wide, e % 3 != 0);
    if (is_observed) {
      graph.add_table(scope, noisy.logs_at(e % 2));
      continue;
    }
    scope.push_back(graph.add_variable(num_states));
    graph.add_table(scope, noisy.logs());
    if (e % 2 == 0) graph.add_table({scope.back()}, std::vector<double>(static_cast<std::size_t>(num_states), -0.5));
  }
  return graph;
}

TEST(DecomposedModel, HasTheSameLogZAndMarginals) {
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "decomposed");
    const bool is_observed = trial % 2 == 0;
    const FactorGraph graph =
        causes_and_effects(random, 6, is_observed ? 5 : 3, is_observed, trial % 3 == 0 ? 6.0 : 1.0);
    const DecomposedModel model(graph);
    ASSERT_GT(model.num_decomposed(), 0);
    const Enumeration truth = enumerate(graph);
    const Elimination elimination(model.graph(), {}, {.goal = EliminationGoal::kMarginals});
    const LogBounds bounds = elimination.bounds().widened(model.log_slack());
    EXPECT_LE(bounds.lower, truth.log_z + 1e-12 * std::abs(truth.log_z));
    EXPECT_GE(bounds.upper, truth.log_z - 1e-12 * std::abs(truth.log_z));
    EXPECT_LE(bounds.width(), 1e-7);
    const Marginals found = elimination.marginals();
    for (std::size_t v = 0; v < truth.marginals.size(); ++v) {
      for (std::size_t x = 0; x < truth.marginals[v].size(); ++x) EXPECT_NEAR(found[v][x], truth.marginals[v][x], 1e-8);
    }
  }
}

TEST(DecomposedModel, SamplesAreConfigurationsOfTheOriginal) {
  Random random(3, "decomposed samples");
  const FactorGraph graph = causes_and_effects(random, 5, 2, false, 1.0);
  const DecomposedModel model(graph);
  const auto elimination = std::make_shared<const Elimination>(model.graph());
  const OriginalApproximation approximation(graph, elimination, elimination->log_z());
  const Enumeration truth = enumerate(graph);
  const Marginals found = sampled_marginals(approximation, graph, 20'000, random);
  for (std::size_t v = 0; v < found.size(); ++v) EXPECT_NEAR(found[v][0], truth.marginals[v][0], 0.02);  // 5.6 sigma
  const Assignment x = approximation.sample(random);
  EXPECT_NEAR(approximation.log_prob(x), truth.log_probs[configuration_index(graph, x)], 1e-9);
}

// Forty causes and thirty effects of eight of them each: no order of the tables themselves does it.
TEST(DecomposedModel, InferSolvesManyCausesOfManyEffects) {
  Random random(1, "many causes");
  FactorGraph graph;
  Evidence evidence;
  for (int v = 0; v < 40; ++v) graph.add_variable(2);
  for (int v = 0; v < 40; ++v) graph.add_table({v}, {std::log(0.9), std::log(0.1)});
  for (int e = 0; e < 30; ++e) {
    std::vector<int> scope = random.permutation(40);
    scope.resize(8);
    const NoisyMax noisy(random, std::vector<int>(9, 2), 1.0, true);
    scope.push_back(graph.add_variable(2));
    graph.add_table(scope, noisy.logs());
    evidence.push_back({scope.back(), e % 3 == 0 ? 1 : 0});
  }
  const Answer answer = infer(Model(graph, evidence), {}, {.seconds = kNoTimeLimit, .threads = 1});
  EXPECT_TRUE(answer.is_exact);
  EXPECT_NE(answer.method.find("decomposed"), std::string::npos) << answer.method;
  EXPECT_EQ(answer.marginals_error, 0.0);
  ASSERT_TRUE(answer.best);
  EXPECT_EQ(std::ssize(answer.best->x), 70);
}

}  // namespace
}  // namespace treesample
