// Certified numbers of what is learned from calls against enumeration with 113 bits.
#include "torture/torture.hpp"
#include "treesample/surrogate/learned_search.hpp"
#include "treesample/surrogate/value_estimate.hpp"

namespace treesample {
namespace {

using testing::below;
using testing::num_trials;
using testing::Quad;
using testing::TortureModel;

// A factor that cancels nothing, so that every model has a function over all variables.
void add_function_of_all(FactorGraph& graph) {
  std::vector<int> scope;
  for (int v = 0; v < graph.num_variables(); ++v) scope.push_back(v);
  graph.add_factor(Factor::function(scope, [](std::span<const int>) { return 0.0; }));
}

void expect_certified(const TortureModel& model, const LearnedResult& result) {
  testing::expect_contains(result.report.log_z, model);
  Quad largest = -HUGE_VALQ;
  for (const Quad value : model.log_densities) largest = fmaxq(largest, value);
  if (result.log_most) {
    EXPECT_GE(static_cast<Quad>(*result.log_most), largest);
  }
  if (result.report.stop != StopReason::kExact || !result.report.log_z.is_exact() || !result.approximation) return;
  Marginals truth;
  for (int v = 0; v < model.graph.num_variables(); ++v) truth.emplace_back(model.graph.num_states(v), 0.0);
  std::size_t i = 0;
  testing::for_each_configuration(model.graph, [&](const Assignment& x) {
    const auto p = static_cast<double>(expq(model.log_densities[i++] - model.log_z));
    for (std::size_t v = 0; v < x.size(); ++v) truth[v][x[v]] += p;
  });
  for (std::size_t v = 0; v < truth.size(); ++v) {
    for (std::size_t s = 0; s < truth[v].size(); ++s) EXPECT_NEAR(result.marginals[v][s], truth[v][s], 2e-6);
  }
}

TEST(Torture, WhatIsLearnedIsCertifiedByWhatWasAsked) {
  Random random(1, "learned torture");
  for (int trial = 0; trial < num_trials(300); ++trial) {
    TortureModel model = testing::torture_model(random);
    add_function_of_all(model.graph);
    if (!states_to_learn(model.graph, 0)) continue;
    for (const int budget : {below(random, 20), 10'000}) {
      SCOPED_TRACE(::testing::Message() << "trial " << trial << ", " << model.text << ", budget " << budget);
      const LearnedSearchOptions options{.seed = static_cast<std::uint64_t>(trial),
                                         .error_share = random.uniform() < 0.5 ? 0.0 : 0.1,
                                         .wants_best = random.uniform() < 0.3};
      expect_certified(model, learned_search(model.graph, {.budget = budget, .unit = BudgetUnit::kCall}, options));
    }
  }
}

TEST(Torture, KnownValuesAreALowerBound) {
  Random random(2, "learned torture");
  for (int trial = 0; trial < num_trials(300); ++trial) {
    TortureModel model = testing::torture_model(random);
    add_function_of_all(model.graph);
    const double share = random.uniform() < 0.3 ? 1.0 : random.uniform();
    std::vector<PaidValue> values;
    std::size_t num_states = 0;  // of all functions
    for (int m = 0; m < model.graph.num_factors(); ++m) {
      if (model.graph.factor(m).is_table()) continue;
      const std::vector<int>& scope = model.graph.factor(m).scope();
      FactorGraph one;
      for (const int v : scope) one.add_variable(model.graph.num_states(v));
      testing::for_each_configuration(one, [&](const Assignment& states) {
        ++num_states;
        if (random.uniform() >= share) return;
        values.push_back({m, states, testing::log_value_of(model.graph, m, states)});
      });
    }
    SCOPED_TRACE(::testing::Message() << "trial " << trial << ", " << model.text);
    const ValueEstimate estimate = estimate_from_values(model.graph, values);
    for (const ValueEstimate::Step& step : estimate.steps) {
      if (step.log_known) {
        EXPECT_LE(static_cast<Quad>(*step.log_known), model.least());
      }
    }
    if (estimate.is_exact && !estimate.steps.empty() && estimate.steps.back().log_known) {
      const Quad near = static_cast<Quad>(1e-3) + static_cast<Quad>(1e-12) * fabsq(model.log_z);
      EXPECT_GE(static_cast<Quad>(*estimate.steps.back().log_known), model.log_z - near);
    }
  }
}

}  // namespace
}  // namespace treesample
