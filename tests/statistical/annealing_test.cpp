// Coverage of annealed limits, and the mean of annealed weights.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "evaluate/lower_limit.hpp"
#include "experiments/annealing/coverage.hpp"
#include "treesample/evaluate/annealed_importance.hpp"

namespace treesample {
namespace {

using experiments::annealed_interval;
using experiments::annealed_kinds;
using experiments::AnnealedInterval;
using experiments::AnnealedKind;

// Each end of 500 intervals may miss 250 (1 - confidence) times, with room for five standard deviations: false alarms
// below 1e-5 in all. `treesample reproduce annealing` writes the whole table.
TEST(Annealing, CoversAsOftenAsItSays) {
  constexpr int kNumSeeds = 500;
  for (const AnnealedKind& kind : annealed_kinds()) {
    for (const double confidence : {0.5, 0.9, 0.95, 0.99}) {
      int num_above = 0, num_below = 0, num_finite = 0;
      for (int seed = 0; seed < kNumSeeds; ++seed) {
        const AnnealedInterval interval = annealed_interval(kind, confidence, 32, 32, static_cast<std::uint64_t>(seed));
        num_above += interval.lower > kind.exact.log_z ? 1 : 0;
        num_below += interval.upper < kind.exact.log_z ? 1 : 0;
        num_finite += std::isfinite(interval.lower) && std::isfinite(interval.upper) ? 1 : 0;
      }
      const double allowed = 0.5 * kNumSeeds * (1.0 - confidence);
      EXPECT_LE(num_above, allowed + 5.0 * std::sqrt(allowed)) << kind.name << " at " << confidence;
      EXPECT_LE(num_below, allowed + 5.0 * std::sqrt(allowed)) << kind.name << " at " << confidence;
      EXPECT_GT(num_finite, kNumSeeds / 2) << kind.name << " at " << confidence;  // limits that say nothing always hold
    }
  }
}

// The mean weight of many chains is Z, and marginals are those of the model, within five standard errors: false alarms
// below 1e-4 in all (some 300 comparisons, whose errors are themselves estimated).
TEST(Annealing, MeansAreThoseOfTheModel) {
  for (const AnnealedKind& kind : annealed_kinds()) {
    const AnnealedResult result = annealed_importance(
        kind.graph, {.threads = 1}, {.num_temperatures = kind.num_temperatures, .max_chains = 40'000, .seed = 3});
    ASSERT_EQ(result.report.no_error, "") << kind.name;
    EXPECT_NEAR(result.report.estimate, kind.exact.log_z, 5.0 * result.report.std_error) << kind.name;
    ASSERT_EQ(result.marginals.size(), kind.exact.marginals.size());
    for (std::size_t v = 0; v < result.marginals.size(); ++v) {
      for (std::size_t a = 0; a < result.marginals[v].size(); ++a) {
        EXPECT_NEAR(result.marginals[v][a], kind.exact.marginals[v][a], 5.0 * result.marginal_errors[v])
            << kind.name << ", variable " << v;
      }
    }
  }
}

// Numbers without a bound: whoever stops at the worst moment gains nothing. 200 runs at 90 %: five standard deviations,
// false alarms below 1e-6.
TEST(LowerLimit, HoldsWheneverOneStops) {
  int num_missed = 0;
  for (int seed = 0; seed < 200; ++seed) {
    Random random(static_cast<std::uint64_t>(seed), "lower limit");
    LowerLimit limit(0.1);
    bool has_missed = false;
    for (int i = 0; i < 400; ++i) {
      limit.add(1.5 * random.normal() - 0.5 * 1.5 * 1.5, 400.0);  // log-normal, mean 1
      if (i % 20 == 19) has_missed = has_missed || limit.log_limit() > 0.0;
    }
    num_missed += has_missed ? 1 : 0;
  }
  EXPECT_LE(num_missed, 20.0 + 5.0 * std::sqrt(20.0));
}

}  // namespace
}  // namespace treesample
