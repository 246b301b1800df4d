// Coverage and length of intervals by betting.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "evaluate/betting.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

struct Kind {
  std::string name;
  double mean = 0.0;
  std::function<double(Random&)> draw;
};

// Weights as they come: nearly constant, skewed, rare and large, never anything, at the bound.
std::vector<Kind> kinds() {
  const auto log_normal = [](double log_mean, double deviation) {
    return [=](Random& random) {
      return std::min(1.0, std::exp(log_mean - 0.5 * deviation * deviation + deviation * random.normal()));
    };
  };
  return {{"uniform", 0.5, [](Random& random) { return random.uniform(); }},
          {"one in a hundred", 0.008, [](Random& random) { return random.uniform() < 0.01 ? 0.8 : 0.0; }},
          {"log-normal, deviation 1", std::exp(-8.0), log_normal(-8.0, 1.0)},
          {"nearly constant", std::exp(-4.0), log_normal(-4.0, 0.01)},
          {"at the bound", 1.0, [](Random&) { return 1.0; }},
          {"impossible", 0.0, [](Random&) { return 0.0; }}};
}

MeanLimits interval(const Kind& kind, double confidence, int num_numbers, Random& random) {
  BettingInterval betting(confidence);
  for (int i = 0; i < num_numbers; ++i) betting.add(kind.draw(random), num_numbers);
  return betting.limits();
}

// Of 500 intervals at most 500 (1 - confidence) miss, with room for five standard deviations: false alarms below 1e-6.
TEST(Betting, CoversAsOftenAsItSays) {
  constexpr int kNumSeeds = 500;
  for (const Kind& kind : kinds()) {
    for (const double confidence : {0.5, 0.9, 0.95, 0.99}) {
      int num_missed = 0;
      for (int seed = 0; seed < kNumSeeds; ++seed) {
        Random random(static_cast<std::uint64_t>(seed), "betting " + kind.name);
        const MeanLimits limits = interval(kind, confidence, 400, random);
        num_missed += limits.lower > kind.mean || limits.upper < kind.mean ? 1 : 0;
      }
      const double expected = kNumSeeds * (1.0 - confidence);
      EXPECT_LE(num_missed, expected + 5.0 * std::sqrt(expected)) << kind.name << " at " << confidence;
      RecordProperty("missed, " + kind.name + ", " + std::to_string(confidence), num_missed);
    }
  }
}

// One who stops the moment that the interval misses gains nothing.
TEST(Betting, CoversWheneverOneStops) {
  int num_missed = 0;
  const Kind kind = kinds()[1];
  for (int seed = 0; seed < 200; ++seed) {
    Random random(static_cast<std::uint64_t>(seed), "betting, stopped");
    BettingInterval betting(0.9);
    bool has_missed = false;
    for (int i = 0; i < 1000; ++i) {
      betting.add(kind.draw(random), 1000.0);
      if (i % 50 != 49) continue;
      const MeanLimits limits = betting.limits();
      has_missed = has_missed || limits.lower > kind.mean || limits.upper < kind.mean;
    }
    num_missed += has_missed ? 1 : 0;
  }
  EXPECT_LE(num_missed, 20.0 + 5.0 * std::sqrt(20.0));
}

// Empirical Bernstein limits of the same numbers (Maurer and Pontil 2009) are longer.
TEST(Betting, IsShorterThanEmpiricalBernstein) {
  constexpr int kNumNumbers = 20'000;
  for (const Kind& kind : kinds()) {
    if (kind.mean == 0.0 || kind.mean == 1.0) continue;
    Random random(1, "betting " + kind.name);
    BettingInterval betting(0.95);
    double sum = 0.0, squares = 0.0;
    for (int i = 0; i < kNumNumbers; ++i) {
      const double z = kind.draw(random);
      betting.add(z, kNumNumbers);
      sum += z;
      squares += z * z;
    }
    const double mean = sum / kNumNumbers, variance = squares / kNumNumbers - mean * mean;
    const double log_term = std::log(4.0 / 0.05);
    const double radius =
        std::sqrt(2.0 * variance * log_term / kNumNumbers) + 7.0 * log_term / (3.0 * (kNumNumbers - 1.0));
    const MeanLimits limits = betting.limits();
    EXPECT_LT(limits.upper - limits.lower, 2.0 * radius) << kind.name;
    EXPECT_GT(limits.upper - limits.lower, 3.0 * std::sqrt(variance / kNumNumbers)) << kind.name;
    EXPECT_GT(limits.lower, 0.0) << kind.name;
  }
}

TEST(Betting, SaysNothingBeforeItHasBet) {
  BettingInterval betting(0.95);
  EXPECT_EQ(betting.limits().lower, 0.0);
  EXPECT_EQ(betting.limits().upper, 1.0);
  for (std::int64_t i = 0; i < BettingInterval::kPilot; ++i) betting.add(0.3, 1000.0);
  EXPECT_EQ(betting.limits().lower, 0.0);
  EXPECT_EQ(betting.limits().upper, 1.0);
}

// Batches: many numbers, or fewer expected than come.
TEST(Betting, StaysTrueWithManyNumbersAndWrongExpectations) {
  const Kind kind = kinds()[0];
  for (const double expected : {1.0, 1e3, 1e7, 1e30}) {
    Random random(7, "betting, many");
    BettingInterval betting(0.999999);
    for (int i = 0; i < 300'000; ++i) betting.add(kind.draw(random), expected);
    const MeanLimits limits = betting.limits();
    EXPECT_LE(limits.lower, kind.mean) << expected;
    EXPECT_GE(limits.upper, kind.mean) << expected;
  }
}

}  // namespace
}  // namespace treesample
