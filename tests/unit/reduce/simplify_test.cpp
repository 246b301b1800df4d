#include "treesample/reduce/simplify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

struct Case {
  FactorGraph graph;
  Evidence evidence;
};

Case random_case(Random& random, int variant) {
  testing::RandomModelOptions options{.num_variables = 5,
                                      .num_factors = 6,
                                      .min_arity = variant % 2,
                                      .zero_probability = 0.1 * (variant % 8),
                                      .function_probability = variant % 3 == 0 ? 0.3 : 0.0};
  options.scale = variant % 4 < 2 ? 0.0 : 1.0;  // 0: entries are equal where they are possible
  Case result{testing::random_model(random, options), {}};
  if (variant % 2 == 0) {  // a factor that does not depend on its last variable
    std::vector<double> values;
    for (int s = 0; s < result.graph.num_states(1); ++s) {
      values.insert(values.end(), static_cast<std::size_t>(result.graph.num_states(3)), random.normal());
    }
    result.graph.add_table({1, 3}, std::move(values));
  }
  for (int v = 0; v < result.graph.num_variables(); ++v) {
    if (random.uniform() >= 0.2) continue;
    result.evidence.push_back(
        {v, static_cast<int>(random.below(static_cast<std::uint64_t>(result.graph.num_states(v))))});
  }
  return result;
}

bool agrees(const Assignment& x, const Evidence& evidence) {
  return std::all_of(evidence.begin(), evidence.end(), [&](const Observation& o) { return x[o.variable] == o.state; });
}

// Every configuration that agrees with the evidence has its density in the reduced model, or has none
// in both; the reduced configurations map back one to one.
TEST(Simplify, KeepsEveryDensity) {
  Random random(1);
  int num_impossible = 0, num_fixed = 0, num_removed = 0, num_dropped = 0, num_smaller = 0;
  for (int variant = 0; variant < 500; ++variant) {
    const auto [graph, evidence] = random_case(random, variant);
    const auto [model, report] = simplify(graph, evidence);
    num_impossible += report.is_impossible ? 1 : 0;
    num_fixed += report.num_fixed_variables;
    num_removed += report.num_removed_states;
    num_dropped += report.num_dropped_factors;
    num_smaller += report.num_smaller_factors;
    const auto num_configurations = static_cast<std::size_t>(std::lround(std::exp(graph.log_num_configurations())));
    for (std::size_t i = 0; i < num_configurations; ++i) {
      const Assignment x = configuration_at(graph, i);
      if (!agrees(x, evidence)) continue;
      const std::optional<Assignment> reduced = model.lower(x);
      const double expected = graph.log_density(x);
      if (report.is_impossible || !reduced) {
        ASSERT_EQ(expected, kNegInf) << variant;
        continue;
      }
      const double found = model.graph.log_density(*reduced);
      ASSERT_TRUE(found == expected || std::abs(found - expected) < 1e-12) << variant;
      ASSERT_EQ(model.lift(*reduced), x);
    }
  }
  for (const int count : {num_impossible, num_fixed, num_removed, num_dropped, num_smaller}) EXPECT_GT(count, 20);
}

TEST(Simplify, KeepsLogZMarginalsAndLogProbs) {
  Random random(2);
  for (int variant = 0; variant < 300; ++variant) {
    auto [graph, evidence] = random_case(random, variant);
    if (!graph.has_only_tables()) continue;
    // Evidence as factors: the oracle knows nothing of reduced models.
    FactorGraph observed = graph;
    for (const auto& [variable, state] : evidence) {
      std::vector<double> values(static_cast<std::size_t>(graph.num_states(variable)), kNegInf);
      values[static_cast<std::size_t>(state)] = 0.0;
      observed.add_table({variable}, values);
    }
    const Enumeration exact = enumerate(observed);
    const auto model = std::make_shared<const ReducedModel>(simplify(graph, evidence).model);
    const auto elimination = std::make_shared<const Elimination>(model->graph);
    ASSERT_TRUE(elimination->log_z() == exact.log_z || std::abs(elimination->log_z() - exact.log_z) < 1e-10);
    if (exact.log_z == kNegInf) continue;
    const Marginals marginals = model->lift(elimination->marginals());
    for (int v = 0; v < graph.num_variables(); ++v) {
      ASSERT_EQ(marginals[v].size(), exact.marginals[v].size());
      for (int s = 0; s < graph.num_states(v); ++s) ASSERT_NEAR(marginals[v][s], exact.marginals[v][s], 1e-12);
    }
    const LiftedApproximation lifted(model, elimination);
    for (std::size_t i = 0; i < exact.log_probs.size(); ++i) {
      const double found = lifted.log_prob(configuration_at(graph, i));
      ASSERT_TRUE(found == exact.log_probs[i] || std::abs(found - exact.log_probs[i]) < 1e-10);
    }
    ASSERT_GT(observed.log_density(lifted.sample(random)), kNegInf);
  }
}

TEST(Simplify, NothingToRemoveChangesNothing) {
  Random random(3);
  const FactorGraph graph = testing::random_model(random, {.min_states = 2});
  const auto [model, report] = simplify(graph);
  EXPECT_FALSE(report.is_changed());
  EXPECT_EQ(report.brief(), "nothing to remove");
  ASSERT_EQ(model.graph.num_factors(), graph.num_factors());
  for (int m = 0; m < graph.num_factors(); ++m) {
    EXPECT_EQ(model.graph.factor(m).scope(), graph.factor(m).scope());
    EXPECT_EQ(&model.graph.factor(m).log_values(), &graph.factor(m).log_values()) << "shared, not copied";
  }
}

// x0 = 1 is forced, x1 loses a state, the last factor no longer depends on x2.
TEST(Simplify, SaysWhatItRemoved) {
  FactorGraph graph;
  graph.add_variable({.num_states = 2, .name = "a"});
  graph.add_variable({.num_states = 3, .name = "b", .state_names = {"low", "middle", "high"}});
  graph.add_variable(2);
  graph.add_table({0}, {kNegInf, 2.0});
  graph.add_table({0, 1}, {1.0, 1.0, 1.0, -1.0, kNegInf, -2.0});
  graph.add_table({0, 1, 2}, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 3.0, 3.0, 7.0, 8.0, 4.0, 4.0});
  const auto [model, report] = simplify(graph);
  EXPECT_EQ(report.num_fixed_variables, 1);
  EXPECT_EQ(report.num_removed_states, 1);
  EXPECT_EQ(report.num_dropped_factors, 1);
  EXPECT_EQ(report.num_smaller_factors, 1);
  EXPECT_EQ(report.brief(),
            "1 variable forced, 1 impossible state removed, 1 constant factor, 1 factor over fewer variables");
  ASSERT_EQ(model.graph.num_variables(), 2);
  EXPECT_EQ(model.graph.variable(0).state_names, (std::vector<std::string>{"low", "high"}));
  ASSERT_EQ(model.graph.num_factors(), 3);
  EXPECT_EQ(model.graph.factor(1).log_values(), (std::vector<double>{3.0, 4.0}));
  EXPECT_EQ(model.graph.factor(2).log_values(), (std::vector<double>{2.0}));
  EXPECT_EQ(model.lift(std::vector<int>{1, 0}), (Assignment{1, 2, 0}));
  EXPECT_FALSE(model.lower(Assignment{1, 1, 0}).has_value());
  EXPECT_FALSE(model.lower(Assignment{0, 2, 0}).has_value());
}

// Each table alone supports every state; assuming x0 = 1 forces x1 = 1, which the second table forbids.
TEST(Simplify, ProbesWhatPropagationDoesNotSee) {
  FactorGraph graph = testing::variables({3, 3});
  graph.add_table({0, 1}, {0.5, kNegInf, kNegInf, kNegInf, 1.5, kNegInf, kNegInf, kNegInf, 2.5});
  graph.add_table({0, 1}, {0.1, 0.2, 0.3, 0.4, kNegInf, 0.6, 0.7, 0.8, 0.9});
  const auto [model, report] = simplify(graph);
  EXPECT_EQ(report.num_removed_states, 2);
  EXPECT_EQ(model.states_of, (std::vector<std::vector<int>>{{0, 2}, {0, 2}}));
  graph.add_table({1, 0}, {kNegInf, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, kNegInf});
  EXPECT_TRUE(simplify(graph).report.is_impossible);
}

TEST(Simplify, ImpossibleModelsHaveNoVariables) {
  FactorGraph graph = testing::variables({2, 2});
  graph.add_table({0, 1}, {0.0, kNegInf, kNegInf, 0.0});
  const auto [model, report] = simplify(graph, {{0, 0}, {1, 1}});
  EXPECT_TRUE(report.is_impossible);
  EXPECT_EQ(Elimination(model.graph).log_z(), kNegInf);
  EXPECT_EQ(model.lift(Assignment{}).size(), 2U);
  EXPECT_THROW(simplify(graph, {{2, 0}}), Error);
}

// Functions see the states of the original model, and only those that are left.
TEST(Simplify, FunctionsSpeakOfOriginalStates) {
  FactorGraph graph = testing::variables({4, 3, 2});
  graph.add_table({0}, {kNegInf, 0.5, kNegInf, 0.25});
  graph.add_table({1}, {kNegInf, kNegInf, 1.0});
  graph.add_factor(
      Factor::function({2, 1, 0}, [](std::span<const int> x) { return x[0] + 10.0 * x[1] + 100.0 * x[2]; }));
  const auto [model, report] = simplify(graph);
  EXPECT_EQ(model.graph.num_variables(), 2);
  EXPECT_EQ(model.graph.log_density(Assignment{1, 1}), graph.log_density(Assignment{3, 2, 1}));
  EXPECT_EQ(graph.log_density(Assignment{3, 2, 1}), 1.0 + 20.0 + 300.0 + 0.25 + 1.0);
}

}  // namespace
}  // namespace treesample
