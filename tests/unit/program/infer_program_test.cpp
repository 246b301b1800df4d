#include "treesample/program/infer_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "support/sets_program.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr int kSide = 8;

// Places in a square, reached by many paths each.
struct Grid {
  using State = std::array<int, 3>;  // x, y, and 1 at the end
  static double weight(int x, int y) { return -0.3 * std::abs(x - 5) - 0.2 * std::abs(y - 2); }
  State start() const { return {0, 0, 0}; }
  bool is_end(const State& s) const { return s[2] == 1; }
  void actions(const State& s, auto&& emit) const {
    if (s[0] < kSide - 1) emit(0, State{s[0] + 1, s[1], 0});
    if (s[1] < kSide - 1) emit(1, State{s[0], s[1] + 1, 0});
    emit(2, State{s[0], s[1], 1});
  }
  double reward(const State& s) const { return weight(s[0], s[1]); }
  std::vector<int> encode(const State& s) const { return {s[0], s[1]}; }
};

// The same with a bound: no place has more weight than 1.
struct BoundedGrid : Grid {
  double upper(const State& s) const {
    return is_end(s) ? 0.0 : std::log(static_cast<double>((kSide - s[0]) * (kSide - s[1])));
  }
};

double grid_log_z() {
  std::vector<double> all;
  for (int x = 0; x < kSide; ++x) {
    for (int y = 0; y < kSide; ++y) all.push_back(Grid::weight(x, y));
  }
  return log_sum_exp(all);
}

struct Nothing {
  using State = int;
  State start() const { return 0; }
  bool is_end(State s) const { return s == 9; }
  void actions(State s, auto&& emit) const {
    if (s < 3) emit(0, s + 1);
    if (s == 3) emit(0, 9, kNegInf);
  }
};

struct Done {
  using State = int;
  State start() const { return 0; }
  bool is_end(State) const { return true; }
  void actions(State, auto&& emit) const { emit(0, 1); }
  double reward(State) const { return 2.5; }
  double upper(State) const { return 3.0; }
};

int num_asked = 0;
struct Word {
  using State = std::string;
  State start() const { return ""; }
  bool is_end(const State& s) const { return s.size() == 4; }
  void actions(const State& s, auto&& emit) const {
    ++num_asked;
    for (int i = 0; i < 3; ++i) emit(i, s + static_cast<char>('a' + i), i == 0 ? 0.0 : -1.0);
  }
  double upper(const State& s) const { return (4.0 - static_cast<double>(s.size())) * std::log(3.0); }
};

TEST(InferProgram, CountsEachEndOnceHoweverManyPathsLeadThere) {
  HashedProgram<Grid> grid;
  const ProgramAnswer answer = infer_program(grid);
  EXPECT_TRUE(answer.is_exact);
  EXPECT_EQ(answer.stop, StopReason::kExact);
  EXPECT_NEAR(*answer.estimate, grid_log_z(), 1e-12);
  EXPECT_LE(answer.log_z.lower, grid_log_z());
  EXPECT_GE(answer.log_z.upper, grid_log_z());
  EXPECT_EQ(answer.spent.calls, kSide * kSide);
  EXPECT_EQ(answer.num_ends, kSide * kSide);
  ASSERT_TRUE(answer.best && answer.is_best_optimal);
  EXPECT_EQ(grid.state(answer.best->end()), (Grid::State{5, 2, 1}));
  EXPECT_NEAR(answer.best->log_prob, -grid_log_z(), 1e-12);
}

TEST(InferProgram, DividesByTheNumberOfPathsToAnObject) {
  double z = 0.0, best = kNegInf;
  for (int a = 0; a < 6; ++a) {
    for (int b = a + 1; b < 6; ++b) {
      for (int c = b + 1; c < 6; ++c) {
        const double log_weight = 0.1 * (a + b + c) + ((a + b + c) % 2 == 0 ? 1.0 : -1.0);
        z += std::exp(log_weight);
        best = std::max(best, log_weight);
      }
    }
  }
  HashedProgram<Sets> sets;
  const ProgramAnswer answer = infer_program(sets, {.samples = 5});
  EXPECT_TRUE(answer.is_exact);
  EXPECT_NEAR(*answer.estimate, std::log(z), 1e-12);
  EXPECT_NEAR(answer.best->log_weight, best, 1e-12);
  for (const ProgramPath& sample : answer.samples) {
    EXPECT_NEAR(sample.log_prob, sample.log_weight - std::log(z), 1e-12);
    EXPECT_EQ(sample.actions.size(), 3u);
  }
}

TEST(InferProgram, SamplesHaveTheTargetsDistribution) {
  HashedProgram<Grid> grid;
  constexpr int kSamples = 20'000;
  const ProgramAnswer answer = infer_program(grid, {.samples = kSamples});
  std::map<StateId, int> counts;
  for (const ProgramPath& sample : answer.samples) {
    EXPECT_NEAR(sample.log_weight, grid.program().reward(grid.state(sample.end())), 1e-12);
    EXPECT_NEAR(sample.log_prob, sample.log_weight - grid_log_z(), 1e-12);
    ++counts[sample.end()];
  }
  // Chi-squared with 63 degrees of freedom is below 110 but for 2 of 10,000 seeds.
  double chi_squared = 0.0;
  answer.distribution->for_each_end([&](StateId end, double probability) {
    EXPECT_NEAR(probability, std::exp(grid.program().reward(grid.state(end)) - grid_log_z()), 1e-12);
    const double expected = kSamples * probability;
    chi_squared += (counts[end] - expected) * (counts[end] - expected) / expected;
  });
  EXPECT_LT(chi_squared, 110.0);
}

TEST(InferProgram, BoundsHoldAtAnyNumberOfCallsAndMeet) {
  double last_width = HUGE_VAL;
  for (const int calls : {0, 1, 5, 20, 40, 63, 64}) {
    HashedProgram<BoundedGrid> grid;
    const ProgramAnswer answer = infer_program(grid, {.method = ProgramMethod::kSearch}, {.calls = calls});
    EXPECT_LE(answer.log_z.lower, grid_log_z() + 1e-12) << calls;
    EXPECT_GE(answer.log_z.upper, grid_log_z() - 1e-12) << calls;
    EXPECT_LE(answer.spent.calls, calls);
    EXPECT_LE(answer.log_z.width(), last_width + 1e-12) << calls;
    last_width = answer.log_z.width();
    EXPECT_EQ(answer.is_exact, calls == 64);
  }
}

TEST(InferProgram, AGapEndsTheSearchEarly) {
  HashedProgram<BoundedGrid> grid;
  const ProgramAnswer answer = infer_program(grid, {.method = ProgramMethod::kSearch}, {.gap = 0.5});
  EXPECT_EQ(answer.stop, StopReason::kGap);
  EXPECT_LE(answer.log_z.width(), 0.5 + 1e-9);
  EXPECT_LT(answer.spent.calls, 64);
}

TEST(InferProgram, TheTreeSearchIsExactWhenEverythingIsVisited) {
  for (const int batch : {1, 7}) {
    HashedProgram<Grid> grid;
    const ProgramAnswer some = infer_program(grid, {.method = ProgramMethod::kTree, .batch = batch}, {.calls = 30});
    EXPECT_LE(some.log_z.lower, grid_log_z());
    EXPECT_EQ(some.log_z.upper, HUGE_VAL);
    EXPECT_EQ(some.spent.calls, 30);
    EXPECT_EQ(some.num_rewards, 30);
    HashedProgram<Grid> again;
    const ProgramAnswer all = infer_program(again, {.method = ProgramMethod::kTree, .batch = batch});
    EXPECT_TRUE(all.is_exact);
    EXPECT_NEAR(*all.estimate, grid_log_z(), 1e-12);
  }
}

// Words of 40 letters, of which those with many b have much weight: too many to expand.
struct LongWord {
  using State = std::string;
  State start() const { return ""; }
  bool is_end(const State& s) const { return s.size() == 40; }
  void actions(const State& s, auto&& emit) const {
    emit(0, s + 'a');
    emit(1, s + 'b');
  }
  double reward(const State& s) const { return static_cast<double>(std::count(s.begin(), s.end(), 'b')); }
  double value(const State& s) const {
    return reward(s) + (40.0 - static_cast<double>(s.size())) * std::log(1.0 + std::exp(1.0));
  }
};

// Words of any length.
struct AnyWord {
  using State = std::string;
  State start() const { return ""; }
  bool is_end(const State& s) const { return s.ends_with('.'); }
  void actions(const State& s, auto&& emit) const {
    emit(0, s + 'a');
    emit(1, s + 'b');
    emit(2, s + '.');
  }
  double reward(const State& s) const { return -2.0 * static_cast<double>(s.size()); }
};

TEST(InferProgram, ObjectsOfAnyLengthAreSearched) {
  HashedProgram<AnyWord> words;
  const ProgramAnswer answer = infer_program(words, {.max_steps = 1000}, {.calls = 300});
  const double log_z = -2.0 - std::log(1.0 - 2.0 * std::exp(-2.0));  // the sum over n of 2^n exp(-2 (n + 1))
  EXPECT_EQ(answer.method, "tree search");
  EXPECT_EQ(answer.num_rewards, 300);
  EXPECT_LE(answer.log_z.lower, log_z);
  EXPECT_GE(answer.log_z.lower, log_z - 0.3);
}

TEST(InferProgram, EachTraversalOfTheTreeSearchPaysForAReward) {
  HashedProgram<LongWord> words;
  const ProgramAnswer answer = infer_program(words, {.method = ProgramMethod::kTree}, {.calls = 200});
  const double log_z = 40.0 * std::log(1.0 + std::exp(1.0));
  EXPECT_EQ(answer.num_rewards, 200);
  EXPECT_LE(answer.num_states, 200 * 80 + 1);
  EXPECT_LE(answer.log_z.lower, log_z);
  EXPECT_NEAR(*answer.estimate, log_z, 1e-9);  // Q_phi is right, and what replaces it is right as well
  EXPECT_GT(answer.best->log_weight, 25.0);    // by chance 29.2 on average
}

TEST(InferProgram, RewardsAreLearnedWhereNotAllCanBePaidFor) {
  HashedProgram<Grid> grid;
  const ProgramAnswer answer = infer_program(grid, {}, {.calls = 40});
  EXPECT_EQ(answer.spent.calls, 40);
  EXPECT_LE(answer.log_z.lower, grid_log_z());
  double total = 0.0, distance = 0.0;
  answer.distribution->for_each_end([&](StateId end, double probability) {
    total += probability;
    distance += 0.5 * std::abs(probability - std::exp(grid.program().reward(grid.state(end)) - grid_log_z()));
  });
  EXPECT_NEAR(total, 1.0, 1e-12);
  EXPECT_LT(distance, 0.1);  // the evaluated ends alone would miss more
  EXPECT_GT(std::exp(answer.log_z.lower - grid_log_z()), 0.5);
}

class MapMemory final : public RewardMemory {
 public:
  [[nodiscard]] std::optional<double> find(const std::string& key) const override {
    const auto found = values.find(key);
    if (found == values.end()) return {};
    return found->second;
  }
  void add(const std::string& key, double log_reward) override { values[key] = log_reward; }
  std::map<std::string, double> values;
};

// A ramp, and the same with levels that are declared.
template <bool kOrdered>
struct Ramp {
  using State = std::array<int, 4>;  // three numbers, and how many are chosen
  static constexpr bool ordered = kOrdered;
  static constexpr int kLevels = 12;
  State start() const { return {}; }
  bool is_end(const State& s) const { return s[3] == 3; }
  void actions(const State& s, auto&& emit) const {
    for (int i = 0; i < kLevels; ++i) {
      State next = s;
      next[static_cast<std::size_t>(next[3]++)] = i;
      emit(i, next);
    }
  }
  double reward(const State& s) const {
    return -0.02 * std::pow(s[0] - 3, 2) - 0.05 * std::pow(s[1] - 8, 2) - 0.01 * std::pow(s[2] - s[0], 2);
  }
  std::vector<int> encode(const State& s) const { return {s[0], s[1], s[2]}; }
};

template <bool kOrdered>
double ramp_error() {
  HashedProgram<Ramp<kOrdered>> program;
  const double truth = *infer_program(program).estimate;
  HashedProgram<Ramp<kOrdered>> again;
  return std::abs(*infer_program(again, {.method = ProgramMethod::kBlackBox}, {.calls = 50}).estimate - truth);
}

TEST(InferProgram, DeclaredLevelsTeachMore) { EXPECT_LT(10.0 * ramp_error<true>(), ramp_error<false>()); }

// The same grid, whose rewards several threads may compute.
struct SharedGrid : Grid {
  static constexpr bool shares_rewards = true;
};

TEST(InferProgram, ThreadsGiveTheSameBits) {
  for (const ProgramMethod method : {ProgramMethod::kExact, ProgramMethod::kBlackBox}) {
    std::vector<ProgramAnswer> answers;
    for (const int threads : {1, 3}) {
      HashedProgram<SharedGrid> grid;
      Limits limits{.calls = method == ProgramMethod::kExact ? Limits::kUnlimited : 30};
      limits.threads = threads;
      answers.push_back(infer_program(grid, {.method = method, .samples = 3, .batch = 8}, limits));
    }
    EXPECT_EQ(answers[0].estimate, answers[1].estimate);
    EXPECT_EQ(answers[0].log_z.lower, answers[1].log_z.lower);
    EXPECT_EQ(answers[0].spent.calls, answers[1].spent.calls);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(answers[0].samples[i].states, answers[1].samples[i].states);
  }
}

TEST(InferProgram, WhatIsRememberedIsNotPaidForAgain) {
  MapMemory memory;
  HashedProgram<Grid> first, second, third;
  EXPECT_EQ(infer_program(first, {}, {.calls = 40}, {}, &memory).spent.calls, 40);
  EXPECT_EQ(memory.values.size(), 40u);
  const ProgramAnswer rest = infer_program(second, {}, {.calls = 24}, {}, &memory);
  EXPECT_EQ(rest.spent.calls, 24);
  EXPECT_TRUE(rest.is_exact);
  EXPECT_EQ(infer_program(third, {}, {.calls = 0}, {}, &memory).log_z.lower, rest.log_z.lower);
}

TEST(InferProgram, TheSameSeedGivesTheSameBits) {
  for (const ProgramMethod method : {ProgramMethod::kTree, ProgramMethod::kBlackBox, ProgramMethod::kSearch}) {
    std::vector<double> bits[2];
    for (std::vector<double>& list : bits) {
      HashedProgram<BoundedGrid> grid;
      const ProgramAnswer answer =
          infer_program(grid, {.method = method, .samples = 20, .seed = 3, .batch = 4}, {.calls = 25});
      list = {answer.log_z.lower, answer.log_z.upper};
      for (const ProgramPath& sample : answer.samples) list.push_back(sample.log_prob + sample.end());
    }
    EXPECT_EQ(bits[0], bits[1]);
  }
}

TEST(InferProgram, AProgramWithoutObjectsHasLogZMinusInfinity) {
  HashedProgram<Nothing> program;
  const ProgramAnswer answer = infer_program(program, {.samples = 3});
  EXPECT_TRUE(answer.is_exact);
  EXPECT_EQ(answer.log_z.upper, kNegInf);
  EXPECT_FALSE(answer.best);
  EXPECT_TRUE(answer.samples.empty());
}

TEST(InferProgram, AStartThatIsAnEndIsTheOnlyObject) {
  for (const ProgramMethod method : {ProgramMethod::kAuto, ProgramMethod::kSearch, ProgramMethod::kTree}) {
    HashedProgram<Done> program;
    const ProgramAnswer answer = infer_program(program, {.method = method, .samples = 1});
    EXPECT_TRUE(answer.is_exact);
    EXPECT_EQ(*answer.estimate, 2.5);
    EXPECT_EQ(answer.samples.at(0).states.size(), 1u);
  }
}

TEST(InferProgram, ALimitOnCallsCountsActionsWhereThereAreNoRewards) {
  const double log_z = 4.0 * std::log(1.0 + 2.0 * std::exp(-1.0));
  for (const int calls : {1, 10, 39, 40}) {
    HashedProgram<Word> words, others;
    const ProgramAnswer answer = infer_program(words, {.method = ProgramMethod::kSearch}, {.calls = calls});
    infer_program(others, {}, {.calls = calls});
    EXPECT_EQ(num_asked, 2 * calls);
    num_asked = 0;
    EXPECT_EQ(answer.spent.calls, calls);
    EXPECT_LE(answer.log_z.lower, log_z + 1e-12);
    EXPECT_GE(answer.log_z.upper, log_z - 1e-12);
    EXPECT_EQ(answer.is_exact, calls == 40);
  }
}

}  // namespace
}  // namespace treesample
