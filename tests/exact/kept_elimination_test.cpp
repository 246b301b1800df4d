// Kept eliminations against enumeration, and against elimination where there are too many configurations.
#include "treesample/exact/kept_elimination.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/reduce/evidence.hpp"

namespace treesample {
namespace {

// What one lane knows: states of observed variables, and weights.
struct Lane {
  Evidence observed;
  std::vector<std::vector<double>> weights;  // by variable
};

struct Truth {
  double log_z = kNegInf;
  std::vector<double> joint;                // of the variables that are asked for
  std::vector<std::vector<double>> counts;  // by factor
};

Truth by_enumeration(const FactorGraph& graph, const Lane& lane, const std::vector<int>& asked) {
  Truth truth;
  std::size_t num_joint = 1;
  for (const int v : asked) num_joint *= static_cast<std::size_t>(graph.num_states(v));
  truth.joint.assign(num_joint, 0.0);
  for (const Factor& factor : graph.factors()) truth.counts.emplace_back(factor.log_values().size(), 0.0);
  const Assignment states = observed_states(graph, lane.observed);
  const std::size_t count = enumerate(graph).log_probs.size();
  double z = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const Assignment x = configuration_at(graph, i);
    double value = std::exp(graph.log_density(x));
    for (std::size_t v = 0; v < x.size(); ++v) {
      if (states[v] >= 0 && states[v] != x[v]) value = 0.0;
      value *= lane.weights[v][static_cast<std::size_t>(x[v])];
    }
    z += value;
    std::size_t at = 0;
    for (const int v : asked) at = at * static_cast<std::size_t>(graph.num_states(v)) + static_cast<std::size_t>(x[v]);
    truth.joint[at] += value;
    for (int m = 0; m < graph.num_factors(); ++m) truth.counts[m][table_index(graph, graph.factor(m), x)] += value;
  }
  truth.log_z = z > 0.0 ? std::log(z) : kNegInf;
  for (double& p : truth.joint) p = z > 0.0 ? p / z : 0.0;
  for (std::vector<double>& of_factor : truth.counts) {
    for (double& c : of_factor) c = z > 0.0 ? c / z : 0.0;
  }
  return truth;
}

std::vector<double> random_weights(Random& random, int num_states) {
  std::vector<double> weights;
  for (int s = 0; s < num_states; ++s) weights.push_back(random.uniform() < 0.3 ? 0.0 : random.uniform());
  return weights;
}

TEST(KeptElimination, IsEnumerationInEveryLane) {
  Random random(1, "kept");
  for (int i = 0; i < 120; ++i) {
    const FactorGraph graph = testing::random_model(random, {.num_variables = 2 + i % 6,
                                                             .num_factors = 2 + i % 8,
                                                             .min_arity = 0,
                                                             .zero_probability = i % 3 == 0 ? 0.3 : 0.0});
    const int n = graph.num_variables();
    KeptOptions options{.lanes = i % 2 == 0 ? 1 : 8};
    for (int v = 2; v < n; ++v) {
      if (random.uniform() < 0.4) options.observed.push_back(v);
    }
    options.weighted = {0};
    options.asked = {{1, 0}, {0}, {1}};
    for (int m = 0; m < graph.num_factors(); ++m) {
      bool is_cut = false;
      for (const int v : graph.factor(m).scope()) {
        is_cut = is_cut || std::count(options.observed.begin(), options.observed.end(), v) > 0;
      }
      if (!is_cut) options.parameters.push_back(m);
    }
    KeptElimination kept(graph, options);
    std::vector<Lane> lanes(static_cast<std::size_t>(options.lanes));
    for (int round = 0; round < 3; ++round) {
      for (int l = 0; l < options.lanes; ++l) {
        Lane& lane = lanes[l];
        if (round > 0 && random.uniform() < 0.5) continue;  // as it was
        lane.observed.clear();
        for (const int v : options.observed) {
          lane.observed.push_back({v, static_cast<int>(random.below(static_cast<std::uint64_t>(graph.num_states(v))))});
          kept.set_state(l, v, lane.observed.back().state);
        }
        lane.weights.clear();
        for (int v = 0; v < n; ++v) lane.weights.emplace_back(static_cast<std::size_t>(graph.num_states(v)), 1.0);
        lane.weights[0] = random_weights(random, graph.num_states(0));
        kept.set_weights(l, 0, lane.weights[0]);
      }
      kept.run_up();
      kept.run_down();
      std::vector<std::vector<double>> counts;
      for (const Factor& factor : graph.factors()) counts.emplace_back(factor.log_values().size(), 0.0);
      for (int l = 0; l < options.lanes; ++l) {
        const Truth truth = by_enumeration(graph, lanes[l], {1, 0});
        EXPECT_FALSE(kept.is_lossy(l));
        if (truth.log_z == kNegInf) {
          EXPECT_EQ(kept.log_z(l), kNegInf);
          continue;
        }
        EXPECT_NEAR(kept.log_z(l), truth.log_z, 1e-10) << i;
        EXPECT_LE(kept.bounds(l).lower, kept.log_z(l));
        EXPECT_LT(kept.bounds(l).width(), 1e-11);
        std::vector<double> joint(truth.joint.size());
        kept.asked(0, l, joint);
        for (std::size_t e = 0; e < joint.size(); ++e) EXPECT_NEAR(joint[e], truth.joint[e], 1e-10) << i;
        std::vector<double> single(static_cast<std::size_t>(graph.num_states(0)));
        kept.asked(1, l, single);
        for (int s = 0; s < graph.num_states(0); ++s) {
          double sum = 0.0;
          for (int t = 0; t < graph.num_states(1); ++t) {
            sum += truth.joint[static_cast<std::size_t>(t * graph.num_states(0) + s)];
          }
          EXPECT_NEAR(single[s], sum, 1e-10);
        }
        for (std::size_t m = 0; m < counts.size(); ++m) {
          for (std::size_t e = 0; e < counts[m].size(); ++e) counts[m][e] += truth.counts[m][e];
        }
      }
      for (const int m : options.parameters) {
        std::vector<double> found(counts[m].size(), 0.0);
        kept.add_counts(m, found);
        for (std::size_t e = 0; e < found.size(); ++e) EXPECT_NEAR(found[e], counts[m][e], 1e-9) << i << " " << m;
      }
    }
  }
}

// Separators of many variables: blocks, runs, and tables that are spread out.
TEST(KeptElimination, IsEliminationWhereTablesAreLarge) {
  Random random(2, "kept");
  const int side = 13;
  FactorGraph graph = testing::variables(side * side, 2);
  const auto add = [&](std::vector<int> scope) {
    std::vector<double> values(std::size_t{1} << scope.size());
    for (double& value : values) value = 2.0 * random.uniform() - 1.0;
    graph.add_table(std::move(scope), std::move(values));
  };
  std::vector<int> parameters;
  for (int r = 0; r < side; ++r) {
    for (int c = 0; c < side; ++c) {
      if (c + 1 < side) add({r * side + c, r * side + c + 1});
      if (r + 1 < side) add({(r + 1) * side + c, r * side + c});
    }
  }
  for (int m = 0; m < graph.num_factors(); ++m) parameters.push_back(m);
  KeptOptions options{.parameters = parameters};
  for (int v = 0; v < side * side; ++v) options.asked.push_back({v});
  KeptElimination kept(graph, options);
  EXPECT_GT(kept.num_entries(), 1e5);
  kept.run_up();
  kept.run_down();
  const Elimination elimination(graph);
  EXPECT_NEAR(kept.log_z(0), elimination.log_z(), 1e-9);
  EXPECT_LE(kept.bounds(0).lower, elimination.bounds().upper);
  EXPECT_GE(kept.bounds(0).upper, elimination.bounds().lower);
  const Marginals marginals = elimination.marginals();
  std::vector<double> found(2);
  for (int v = 0; v < side * side; ++v) {
    kept.asked(v, 0, found);
    EXPECT_NEAR(found[0], marginals[v][0], 1e-10);
  }
  // The counts of a factor are sums of the marginals of its variables, and derivatives by definition.
  std::vector<double> counts(4, 0.0);
  kept.add_counts(7, counts);
  EXPECT_NEAR(counts[0] + counts[1], marginals[graph.factor(7).scope()[0]][0], 1e-10);
  std::vector<double> moved = graph.factor(7).log_values();
  const double before = kept.log_z(0);
  moved[2] += 1e-6;
  kept.set_table(7, moved);
  kept.run_up();
  EXPECT_NEAR((kept.log_z(0) - before) / 1e-6, counts[2], 1e-6);
}

TEST(KeptElimination, KnowsWhereNumbersAreTooSmall) {
  // The only possible path uses entries that are e^-700 and e^-600 times the largest ones.
  FactorGraph graph = testing::variables(3, 2);
  for (int v = 0; v < 2; ++v) graph.add_table({v, v + 1}, {0.0, kNegInf, -700.0, 0.0});
  graph.add_table({0}, {-600.0, 0.0});
  graph.add_table({2}, {0.0, kNegInf});
  const double truth = Elimination(graph).log_z();
  KeptElimination kept(graph, {});
  kept.run_up();
  EXPECT_TRUE(kept.is_lossy(0) || std::abs(kept.log_z(0) - truth) < 1e-9) << kept.log_z(0) << " " << truth;
  // A long chain is no reason: messages are scaled.
  FactorGraph chain = testing::variables(500, 2);
  for (int v = 0; v + 1 < 500; ++v) chain.add_table({v, v + 1}, {-20.0, -25.0, -30.0, -20.0});
  KeptElimination scaled(chain, {});
  scaled.run_up();
  EXPECT_FALSE(scaled.is_lossy(0));
  EXPECT_NEAR(scaled.log_z(0), Elimination(chain).log_z(), 1e-9);
}

// Entries that are too small for a number beside the largest one of their table: they are not lost without a word.
TEST(KeptElimination, KnowsWhereAnEntryIsTooSmall) {
  for (const double small : {-600.0, -709.0, -740.0, -1000.0, -1e6}) {
    FactorGraph graph = testing::variables(2, 2);
    graph.add_table({0, 1}, {0.0, small, small, kNegInf});
    KeptElimination kept(graph, {.weighted = {0}, .parameters = {0}});
    kept.set_only_state(0, 0, 1);
    kept.run_up();
    EXPECT_FALSE(std::isnan(kept.log_z(0))) << small;
    EXPECT_TRUE(kept.is_lossy(0) || (kept.bounds(0).lower <= small && kept.bounds(0).upper >= small)) << small;
    KeptElimination observed(graph, {.observed = {0}, .lanes = 2});
    observed.set_state(1, 0, 1);
    observed.run_up();
    EXPECT_FALSE(observed.is_lossy(0) && small > -700.0) << small;
    EXPECT_TRUE(observed.is_lossy(1) || (observed.bounds(1).lower <= small && observed.bounds(1).upper >= small))
        << small;
    kept.set_table(0, std::vector<double>{kNegInf, kNegInf, small, 0.0});
    kept.set_only_state(0, 0, -1);
    kept.run_up();
    EXPECT_TRUE(kept.bounds(0).lower <= 0.0 && kept.bounds(0).upper >= 0.0) << small;
  }
}

TEST(KeptElimination, RefusesWhatItDoesNotHave) {
  FactorGraph graph = testing::variables(3, 2);
  graph.add_table({0, 1}, {0.0, 0.0, 0.0, 0.0});
  graph.add_factor(Factor::function({1, 2}, [](std::span<const int>) { return 0.0; }));
  testing::expect_error(ErrorCode::kArgument, "factor 1 is a function", [&] { KeptElimination(graph, {}); });
  const ModelPart part{.variables = {0, 1}, .factors = {0}};
  KeptElimination kept(graph, {.part = part, .weighted = {0}});
  testing::expect_error(ErrorCode::kArgument, "not among those that are observed", [&] { kept.set_state(0, 1, 0); });
  testing::expect_error(ErrorCode::kArgument, "-1", [&] { kept.set_weights(0, 0, std::vector<double>{1.0, -1.0}); });
  testing::expect_error(ErrorCode::kResource, "more than 1",
                        [&] { KeptElimination(graph, {.part = part, .most_entries = 1.0}); });
}

}  // namespace
}  // namespace treesample
