// Time slices against the whole model, and expected counts against derivatives.
#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/exact/derivatives.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/expected_counts.hpp"
#include "treesample/exact/time_slices.hpp"

namespace treesample {
namespace {

TEST(TimeSlices, AreTheWholeModel) {
  Random random(1, "slices");
  for (int round = 0; round < 10; ++round) {
    TimeModel model;
    model.slice =
        testing::random_model(random, {.num_variables = 5, .min_states = 2, .max_states = 2, .num_factors = 6});
    model.links = {{0, 2}, {1, 3}};
    model.start = {Factor::table({1}, {0.3, -0.4})};
    TimeSlices slices(model);
    const int num_slices = 4;
    std::vector<Observations> seen(num_slices);
    Evidence all;
    for (int t = 0; t < num_slices; ++t) {
      if (t % 2 == round % 2) continue;
      seen[t].states = {{4, t / 2}};
      all.push_back({slices.place(t, 4), t / 2});
    }
    const ReducedModel whole = condition(slices.unrolled(num_slices), all);
    const Elimination elimination(whole.graph);
    const Marginals truth = whole.lift(elimination.marginals());
    const std::vector<SliceAnswer> smoothed = slices.smooth(seen);
    EXPECT_EQ(slices.num_steps(), num_slices);
    for (int t = 0; t < num_slices; ++t) {
      EXPECT_NEAR(smoothed[t].log_z, elimination.log_z(), 1e-11);
      for (int v = 0; v < 5; ++v) {
        EXPECT_NEAR(smoothed[t].marginals[v][0], truth[slices.place(t, v)][0], 1e-11) << round << " " << t << " " << v;
      }
    }
    slices.reset();
    double log_z = 0.0;
    for (const Observations& now : seen) log_z = slices.step(now).log_z;
    EXPECT_NEAR(log_z, elimination.log_z(), 1e-11);
  }
}

TEST(ExpectedCounts, AreDerivativesForEveryRow) {
  Random random(2, "counts");
  const FactorGraph graph = testing::random_model(random, {.num_variables = 5, .min_states = 2, .num_factors = 6});
  std::vector<int> rows;
  std::vector<double> weights;
  for (int r = 0; r < 40; ++r) {
    for (int v = 0; v < 5; ++v) {
      const int num_states = graph.num_states(v) + 1;  // and missing
      rows.push_back(r % 8 == 0 ? 0 : static_cast<int>(random.below(static_cast<std::uint64_t>(num_states))) - 1);
    }
    weights.push_back(random.uniform());
  }
  const std::vector<int> parameters = {3, 0, 5};
  ExpectedCounts counts(graph, rows, weights, parameters, {.threads = 2});
  std::vector<double> tables, truth(counts.num_entries(), 0.0), found(truth);
  for (const int m : parameters) {
    const std::vector<double>& values = graph.factor(m).log_values();
    tables.insert(tables.end(), values.begin(), values.end());
  }
  double log_likelihood = 0.0;
  for (std::size_t r = 0; r < weights.size(); ++r) {
    Evidence seen;
    for (int v = 0; v < 5; ++v) {
      const int state = rows[5 * r + static_cast<std::size_t>(v)];
      if (state >= 0) seen.push_back({v, state});
    }
    const TableDerivatives derivatives = table_derivatives(graph, seen);
    log_likelihood += weights[r] * derivatives.log_z;
    std::size_t at = 0;
    for (const int m : parameters) {
      const std::vector<double>& values = graph.factor(m).log_values();
      for (std::size_t e = 0; e < values.size(); ++e) {
        truth[at++] += weights[r] * std::exp(values[e] + derivatives.log_derivatives[m][e] - derivatives.log_z);
      }
    }
  }
  EXPECT_NEAR(counts.count(tables, found), log_likelihood, 1e-10);
  for (std::size_t e = 0; e < truth.size(); ++e) EXPECT_NEAR(found[e], truth[e], 1e-10);
  rows[1] = 9;
  testing::expect_error(ErrorCode::kArgument, "row 0 has the state 9 of variable 1",
                        [&] { ExpectedCounts(graph, rows, weights, parameters); });
}

}  // namespace
}  // namespace treesample
