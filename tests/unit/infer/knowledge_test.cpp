// Statements meet by algebra: compared with a naive model on a million random sequences.
#include "infer/knowledge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "support/expect_error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

// A model of which everything is known: log Z, and the true log densities of its configurations together with what
// arithmetic makes of them.
struct World {
  explicit World(Random& random) {
    log_z = random.uniform() * 20.0 - 10.0;
    for (std::size_t i = 0; i < computed.size(); ++i) {
      const bool is_equal = i > 0 && random.uniform() < 0.2;
      rounding[i] = !is_equal && random.uniform() < 0.5 ? 0.0 : 0.01 * random.uniform();
      truth[i] = is_equal ? truth[i - 1] : 3.0 * random.uniform();
      computed[i] = {{static_cast<int>(i)}, truth[i] + rounding[i] * (2.0 * random.uniform() - 1.0)};
    }
    largest = *std::max_element(truth.begin(), truth.end());
  }

  double log_z = 0.0, largest = 0.0;
  std::array<Configuration, 6> computed;
  std::array<double, 6> truth{}, rounding{};
};

struct Statement {
  enum Kind { kBound, kEstimate, kOffer, kProve, kGiveUp } kind = kBound;
  LogBounds bounds = {};
  double number = 0.0;
  Trust trust = Trust::kGuess;
  std::size_t x = 0;
};

// Always true.
Statement drawn(const World& world, Random& random) {
  Statement made;
  const double pick = random.uniform();
  made.kind = pick < 0.35   ? Statement::kBound
              : pick < 0.55 ? Statement::kEstimate
              : pick < 0.8  ? Statement::kOffer
              : pick < 0.97 ? Statement::kProve
                            : Statement::kGiveUp;
  const auto slack = [&] {
    const double size = random.uniform();
    return size < 0.2 ? 0.0 : size < 0.4 ? HUGE_VAL : size < 0.6 ? 1e-7 * size : 3.0 * size;
  };
  if (made.kind == Statement::kBound) made.bounds = {world.log_z - slack(), world.log_z + slack()};
  made.trust = static_cast<Trust>(static_cast<int>(4.0 * random.uniform()));
  made.x = static_cast<std::size_t>(6.0 * random.uniform());
  made.number = world.log_z + (made.trust == Trust::kExact ? 0.0 : 4.0 * random.uniform() - 2.0);
  if (made.kind == Statement::kProve) {
    const double least = world.largest - std::min(world.truth[made.x], world.computed[made.x].log_density);
    made.number = least + (random.uniform() < 0.5 ? 0.0 : random.uniform());
  }
  return made;
}

void state(Knowledge& known, const World& world, const Statement& made) {
  switch (made.kind) {
    case Statement::kBound:
      return known.bound(made.bounds);
    case Statement::kEstimate:
      return known.estimate(made.number, made.trust);
    case Statement::kOffer:
      return known.best.offer(world.computed[made.x], world.rounding[made.x]);
    case Statement::kProve:
      return known.best.prove(world.computed[made.x], made.number);
    case Statement::kGiveUp:
      return known.best.give_up_proof();
  }
}

// The same by looking at all statements together.
LogBounds naive_bounds(const std::vector<Statement>& all) {
  LogBounds bounds;
  for (const Statement& made : all) {
    if (made.kind != Statement::kBound) continue;
    if (made.bounds.lower > bounds.lower) bounds.lower = made.bounds.lower;
    if (made.bounds.upper < bounds.upper) bounds.upper = made.bounds.upper;
  }
  return bounds;
}

std::optional<double> naive_log_z(const std::vector<Statement>& all, const LogBounds& bounds) {
  for (const Trust trust : {Trust::kExact, Trust::kCertified, Trust::kSampled, Trust::kGuess}) {
    std::optional<double> largest;
    for (const Statement& made : all) {
      if (made.kind == Statement::kEstimate && made.trust == trust) {
        largest = std::max(largest.value_or(kNegInf), made.number);
      }
    }
    if (largest) return std::clamp(*largest, bounds.lower, bounds.upper);
  }
  if (bounds.lower == kNegInf) return {};
  return bounds.lower;
}

// What is said of the best configuration is true, and as tight as all proofs together make it.
void check_best(const Knowledge& known, const World& world, const std::vector<Statement>& all) {
  double seen = kNegInf, bound = HUGE_VAL;
  for (const Statement& made : all) {
    if (made.kind != Statement::kOffer && made.kind != Statement::kProve) continue;
    const double log_density = world.computed[made.x].log_density;
    seen = std::max(seen, log_density);
    if (made.kind == Statement::kProve) bound = std::min(bound, log_density + made.number);
  }
  const std::optional<Configuration>& best = known.best.best();
  ASSERT_EQ(best.has_value(), seen != kNegInf);
  if (!best) return;
  const auto x = static_cast<std::size_t>(best->x[0]);
  double least = HUGE_VAL;
  bool is_offered = false;
  for (const Statement& made : all) {
    if (made.kind == Statement::kProve && made.x == x) least = std::min(least, made.number);
    is_offered = is_offered || (made.kind == Statement::kOffer && made.x == x);
  }
  if (is_offered) least = std::min(least, std::max(0.0, bound - best->log_density) + world.rounding[x]);
  const std::optional<double> gap = known.best.gap();
  ASSERT_EQ(gap.has_value(), least < HUGE_VAL);
  if (known.best.is_optimal() != true) {
    ASSERT_EQ(best->log_density, seen);
  }
  if (!gap) return;
  ASSERT_GE(*gap + 1e-12, world.largest - world.truth[x]);
  // An optimal one may be known by its proof alone.
  ASSERT_NEAR(*gap, least, known.best.is_optimal() == true ? 1e-9 : 1e-12);
}

TEST(Knowledge, StatementsMeetInAnyOrder) {
  Random random(1, "knowledge");
  World world(random);
  std::vector<Statement> all;
  for (int sequence = 0; sequence < 1'000'000; ++sequence) {
    if (sequence % 100 == 0) world = World(random);
    all.clear();
    const int size = 1 + static_cast<int>(5.0 * random.uniform());
    Knowledge forward, backward;
    for (int i = 0; i < size; ++i) {
      all.push_back(drawn(world, random));
      const LogBounds before = forward.bounds();
      state(forward, world, all.back());
      // Nothing that was certified is widened, and what is certified is true.
      ASSERT_LE(before.lower, forward.bounds().lower);
      ASSERT_GE(before.upper, forward.bounds().upper);
      ASSERT_LE(forward.bounds().lower, world.log_z);
      ASSERT_GE(forward.bounds().upper, world.log_z);
    }
    std::for_each(all.rbegin(), all.rend(), [&](const Statement& made) { state(backward, world, made); });
    const LogBounds bounds = naive_bounds(all);
    for (const Knowledge* const known : {&forward, &backward}) {
      ASSERT_EQ(known->bounds().lower, bounds.lower);
      ASSERT_EQ(known->bounds().upper, bounds.upper);
      ASSERT_EQ(known->log_z(), naive_log_z(all, bounds));
      check_best(*known, world, all);
      if (HasFatalFailure()) return;
    }
    ASSERT_NEAR(forward.best.gap().value_or(-1.0), backward.best.gap().value_or(-1.0), 1e-12);
    ASSERT_EQ(forward.best.is_optimal(), backward.best.is_optimal());
    if (forward.best.best()) {
      ASSERT_EQ(forward.best.best()->log_density, backward.best.best()->log_density);
    }
  }
}

TEST(Knowledge, ContradictionsAreErrors) {
  Knowledge known;
  known.bound({1.0, 2.0});
  testing::expect_error(ErrorCode::kNumeric, "contradict", [&] { known.bound({2.5, 3.0}); });
}

MarginalStatement sampled(double value, double error) {
  return {.values = {{value, 1.0 - value}, {0.5, 0.5}},
          .trust = Trust::kSampled,
          .errors = {error, error / 2.0},
          .largest_error = error,
          .from = "from 9 samples"};
}

// In every order of the statements: the ones of the greatest trust, and among these the ones with the least error.
TEST(Knowledge, AQuotientOfSumsIsNeverAboveOne) {
  Knowledge known;
  known.bound({1.0, 1.0});
  known.offer_solved({{1.0 + 3e-8}}, 0.0, "the search");
  Answer answer;
  known.fill(answer);
  EXPECT_EQ(answer.marginals[0][0], 1.0);
  Knowledge sampled;
  sampled.offer({.values = {{1.0 + 3e-8}}, .from = "a search"});
  sampled.fill(answer);
  EXPECT_EQ(answer.marginals[0][0], 1.0);
}

TEST(Knowledge, MarginalsOfTheGreatestTrustCount) {
  std::vector<int> order{0, 1, 2, 3, 4};
  do {
    Knowledge known;
    known.bound({1.0, 1.0});
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (order[i] == 0) known.offer({.values = {{0.1, 0.9}, {0.1, 0.9}}, .from = "beliefs"});
      if (order[i] == 1) known.offer(sampled(0.2, 0.02));
      if (order[i] == 2) known.offer(sampled(0.3, 0.01));
      if (order[i] == 3) known.offer_solved({{0.4, 0.6}, {}}, 0.0, "elimination");
      if (order[i] == 4) known.offer_solved({{0.45, 0.55}, {}}, 1.0, "the search");
    }
    Answer answer;
    known.fill(answer);
    ASSERT_EQ(answer.marginals.size(), 2U);
    EXPECT_EQ(answer.marginals[0][0], 0.4);
    EXPECT_EQ(answer.marginals[1][0], 0.5);
    EXPECT_EQ(answer.marginal_errors, (std::vector<double>{0.0, 0.005}));
    EXPECT_EQ(answer.marginals_error, 0.01);
    EXPECT_EQ(answer.marginals_from, "exact; those of barren variables from 9 samples, standard errors at most 0.01");
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Knowledge, GuessesAreSaidToBeSo) {
  Knowledge known;
  known.bound({0.0, 2.0});
  known.offer({.values = {{0.1, 0.9}}, .from = "of P_X"});
  Answer answer;
  known.fill(answer);
  EXPECT_EQ(answer.marginals_from, "of P_X");
  EXPECT_FALSE(answer.marginals_error);
  known.judge_guesses(true);
  known.fill(answer);
  EXPECT_EQ(answer.marginals_from,
            "guesses, of P_X; their error is not known: they are those of P_X, not of the target");
  known.offer(sampled(0.2, 0.02));
  known.judge_guesses(true);
  known.fill(answer);
  EXPECT_EQ(answer.marginals_from, "from 9 samples, standard errors at most 0.02");
}

TEST(Knowledge, MarginalsOfSumsThatAreLessCertainThanLogZAreNotExact) {
  Knowledge known;
  known.bound({1.0, 1.0});
  known.offer_solved({{0.25, 0.75}}, 0.02, "the search");
  Answer answer;
  known.fill(answer);
  EXPECT_FALSE(answer.marginals_from.starts_with("exact")) << answer.marginals_from;
  EXPECT_GE(answer.marginals_error.value_or(0.0), 0.04);
  known.offer_solved({{0.25, 0.75}}, 0.0, "a circuit");
  known.fill(answer);
  EXPECT_EQ(answer.marginals_from, "exact");
}

TEST(Knowledge, WideningKeepsWhatIsExactEnough) {
  Knowledge known;
  known.bound({1.0, 1.0});
  known.offer_solved({{0.25, 0.75}}, 0.0, "elimination");
  known.widen(1e-9);
  Answer answer;
  answer.stop = StopReason::kExact;
  known.fill(answer);
  EXPECT_TRUE(answer.is_exact);
  EXPECT_EQ(answer.stop, StopReason::kExact);
  EXPECT_EQ(answer.marginals_from, "exact");
  known.widen(1e-3);
  known.fill(answer);
  EXPECT_FALSE(answer.is_exact);
  EXPECT_EQ(answer.stop, StopReason::kRounding);
  EXPECT_EQ(answer.marginals_from.find("exact"), std::string::npos) << answer.marginals_from;
  EXPECT_GE(*answer.marginals_error, std::expm1(2e-3));
  EXPECT_GE(answer.marginal_errors.at(0), std::expm1(2e-3));
}

// Marginals by sampling are those of the simplified model, too.
TEST(Knowledge, ErrorsOfSampledMarginalsGrowWithTheModels) {
  Knowledge known;
  known.bound({0.0, 2.0});
  known.offer({.values = {{0.25, 0.75}},
               .trust = Trust::kSampled,
               .errors = {0.01},
               .largest_error = 0.01,
               .from = "from samples"});
  known.widen(1e-12);
  Answer answer;
  known.fill(answer);
  EXPECT_EQ(answer.marginals_error, 0.01);
  EXPECT_EQ(answer.marginals_from, "from samples, standard errors at most 0.01");
  known.widen(0.1);
  known.fill(answer);
  EXPECT_GE(*answer.marginals_error, 0.01 + std::expm1(0.2));
  EXPECT_EQ(answer.marginal_errors.at(0), *answer.marginals_error);
}

TEST(Knowledge, BoundsWithoutAnEstimateAreWidened) {
  Knowledge known;
  known.bound(LogBounds::at_most(3.0));
  known.widen(0.5);
  Answer answer;
  known.fill(answer);
  EXPECT_GE(answer.upper.value_or(kNegInf), 3.5);
  EXPECT_FALSE(answer.lower);
  EXPECT_FALSE(answer.log_z);
}

TEST(Knowledge, ALowerBoundIsTheEstimateWhereThereIsNoOther) {
  Knowledge known;
  known.bound({-4.0, 5.0});
  EXPECT_EQ(known.log_z(), -4.0);
  known.estimate(-9.0, Trust::kGuess);
  EXPECT_EQ(known.log_z(), -4.0);
  known.estimate(1.0, Trust::kSampled);
  known.estimate(2.0, Trust::kGuess);
  EXPECT_EQ(known.log_z(), 1.0);
}

TEST(Knowledge, WhatIsProvedOfAnEqualConfigurationIsKept) {
  KnownBest known;
  known.offer({{0}, 2.0});
  EXPECT_EQ(known.is_optimal(), false);
  known.give_up_proof();
  EXPECT_FALSE(known.is_optimal());
  known.prove({{1}, 2.0}, 1e-12);
  EXPECT_EQ(known.best()->x, Assignment{1});
  EXPECT_EQ(known.is_optimal(), true);
  known.offer({{2}, 2.0 + 1e-11});  // better by rounding
  EXPECT_EQ(known.best()->x, Assignment{1});
}

// The sum of a density of 1e14 and a gap of 1e-3 would lose the gap.
TEST(Knowledge, GapsKeepTheirDigitsWhereDensitiesAreLarge) {
  KnownBest known;
  known.prove({{0}, 1e14}, 2e-3);
  known.prove({{1}, 1e14}, 1e-3);
  EXPECT_EQ(known.gap(), 1e-3);
}

}  // namespace
}  // namespace treesample
