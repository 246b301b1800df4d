// Standard errors that are shown against enumeration, on small models with zeros and magnitudes of all sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/random_models.hpp"
#include "treesample/evaluate/bounded_importance.hpp"
#include "treesample/evaluate/importance.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/monotone/box_search.hpp"

namespace treesample {
namespace {

constexpr int kNumModels = 400;
constexpr int kCounts[] = {1, 20, 300, 3000};
constexpr double kScales[] = {0.5, 2.0, 10.0, 100.0};
constexpr double kFar = 6.0;  // standard errors

struct Trial {
  FactorGraph graph;
  Enumeration exact;
  SearchSpace space;
  SearchResult result;
  int count;
  bool is_ordinary;
};

Trial make_trial(int i, SelectRule select) {
  Random random(i, "standard errors");
  const double scale = kScales[i % 4];
  const double zeros = 0.2 * (i / 4 % 3);
  FactorGraph graph =
      testing::random_model(random, {.num_variables = 5, .num_factors = 6, .zero_probability = zeros, .scale = scale});
  const SpaceKind kind = i % 2 == 0 ? SpaceKind::kAndOr : SpaceKind::kGraph;
  SearchSpace space = make_search_space(graph, search_order(graph, kind, {}), kind);
  SearchOptions options{.select = select};
  LeafValues leaves;
  if (select == SelectRule::kGap) leaves.upper = maxima_value(graph, space);
  SearchResult result = search(graph, space, leaves, {.budget = i % 5 * 8}, options);
  Enumeration exact = enumerate(graph);
  return {std::move(graph),  std::move(exact),    std::move(space),
          std::move(result), kCounts[i / 12 % 4], scale < 1.0 && zeros == 0.0};
}

// Of a solved model nothing but rounding is left.
bool is_far(double found, double exact, double error) { return std::abs(found - exact) > kFar * error + 1e-7; }

struct Counts {
  int num_shown = 0, num_far = 0, num_ordinary = 0, num_ordinary_shown = 0;

  // True when an error is shown.
  bool add(const Trial& trial, bool is_shown) {
    if (trial.is_ordinary && trial.count >= 300) {
      ++num_ordinary;
      num_ordinary_shown += is_shown ? 1 : 0;
    }
    num_shown += is_shown ? 1 : 0;
    return is_shown;
  }
  void expect_mostly_there(int most_far) const {
    ::testing::Test::RecordProperty("shown", num_shown);
    ::testing::Test::RecordProperty("far", num_far);
    EXPECT_LE(num_far, most_far) << "of " << num_shown;
    EXPECT_GT(num_shown, kNumModels / 10);
    EXPECT_GT(num_ordinary_shown, num_ordinary * 9 / 10) << num_ordinary;
  }
};

// A miss of 6 standard errors needs a region of 6 / r that all samples miss: exp(-6) at worst, where everything else is
// at its worst too. The seeds are fixed.
TEST(StandardErrors, OfBoundedWeightsAreNeverFarTooSmallAndMostlyThere) {
  Counts counts;
  for (int i = 0; i < kNumModels; ++i) {
    const Trial trial = make_trial(i, SelectRule::kGap);
    const SearchApproximation upper(trial.result, SamplerKind::kUpper);
    if (trial.exact.log_z == kNegInf || upper.log_value() == kNegInf) continue;
    Random random(i, "samples");
    const BoundedImportance found = bounded_importance(trial.graph, upper, {.max_samples = trial.count}, random);
    EXPECT_EQ(found.no_error.empty(), std::isfinite(found.std_error));
    EXPECT_EQ(found.no_error.empty(), !found.marginal_errors.empty());
    if (trial.count == 1) {
      EXPECT_FALSE(found.no_error.empty());
    }
    if (!counts.add(trial, found.no_error.empty())) continue;
    bool is_one_far = is_far(found.log_z, trial.exact.log_z, found.std_error);
    for (int v = 0; v < trial.graph.num_variables(); ++v) {
      for (int a = 0; a < trial.graph.num_states(v); ++a) {
        is_one_far = is_one_far || is_far(found.marginals[v][a], trial.exact.marginals[v][a], found.marginal_errors[v]);
      }
    }
    counts.num_far += is_one_far ? 1 : 0;
  }
  counts.expect_mostly_there(0);
}

// Nothing bounds these weights, so that a region which the sampler hardly comes to can stay unseen: 3 of 146 here, with
// log-values of 2 to 100 nats.
TEST(StandardErrors, OfUnboundedWeightsAreSeldomFarTooSmallAndMostlyThere) {
  Counts counts;
  for (int i = 0; i < kNumModels; ++i) {
    const Trial trial = make_trial(i, SelectRule::kMass);
    const SearchApproximation sampler(trial.result, SamplerKind::kEstimate);
    if (trial.exact.log_z == kNegInf || sampler.log_value() == kNegInf) continue;
    Random random(i, "samples");
    ImportanceEstimate found = importance_estimate(trial.graph, sampler, trial.count, random);
    if (trial.result.report.stop != StopReason::kExact) {
      distrust_if_blind(found, -std::expm1(std::min(0.0, trial.result.report.log_z.lower - sampler.log_value())));
    }
    EXPECT_EQ(found.no_error.empty(), std::isfinite(found.std_error));
    if (!counts.add(trial, found.no_error.empty())) continue;
    counts.num_far += is_far(found.log_z, trial.exact.log_z, found.std_error) ? 1 : 0;
  }
  counts.expect_mostly_there(counts.num_shown / 25);
}

// All samples may have missed the few states that matter, and then there is no spread among them.
TEST(StandardErrors, OfBoxesAllowForWhatNoSampleHasMet) {
  FactorGraph graph = testing::variables(12, 3);
  const std::vector<int> scope = testing::integers(12);
  const auto function = [](std::span<const int> x) {
    return std::all_of(x.begin(), x.end(), [](int state) { return state > 0; }) ? 20.0 : 0.01 * x[0];
  };
  graph.add_factor(Factor::function(scope, function).monotone(std::vector<Direction>(12, Direction::kIncreasing)));
  const double log_z = 12.0 * std::log(2.0) + 20.0;  // up to 1e-6
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    for (const int budget : {6, 20, 60}) {
      const BoxResult result = box_search(graph, {.budget = budget, .unit = BudgetUnit::kCall}, {.seed = seed});
      ASSERT_TRUE(result.report.samples);
      const BoxSamples& samples = *result.report.samples;
      EXPECT_GT(samples.std_error, 0.0);
      if (std::isfinite(samples.std_error)) {
        EXPECT_LT(std::abs(samples.log_z - log_z), kFar * samples.std_error);
      }
    }
  }
}

}  // namespace
}  // namespace treesample
