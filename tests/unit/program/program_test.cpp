#include "treesample/program/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace treesample {
namespace {

// Places in a square.
struct Grid {
  using State = std::array<int, 3>;  // x, y, and 1 at the end
  State start() const { return {0, 0, 0}; }
  bool is_end(const State& s) const { return s[2] == 1; }
  void actions(const State& s, auto&& emit) const {
    if (s[0] < 9) emit(0, State{s[0] + 1, s[1], 0});
    if (s[1] < 9) emit(1, State{s[0], s[1] + 1, 0}, 0.5);
    emit(2, State{s[0], s[1], 1});
  }
  double reward(const State& s) const { return -0.1 * s[0] * s[1]; }
};

// Words of two letters in any order.
struct Bag {
  using State = std::string;
  static constexpr ProgramObjects objects = ProgramObjects::kPaths;
  State start() const { return ""; }
  bool is_end(const State& s) const { return s.size() == 2; }
  void actions(const State& s, auto&& emit) const {
    for (int letter = 0; letter < 2; ++letter) emit(letter, s + static_cast<char>('a' + letter));
  }
  State merge(State s) const {
    std::sort(s.begin(), s.end());
    return s;
  }
  double upper(const State&) const { return 3.0; }
};

static_assert(Program<Grid> && Program<Bag> && !Program<std::string>);

TEST(HashedProgram, NumbersStatesInTheOrderInWhichTheyAreSeen) {
  HashedProgram<Grid> grid;
  std::vector<Transition> actions;
  grid.actions(grid.start(), actions);
  ASSERT_EQ(actions.size(), 3u);
  EXPECT_EQ(actions[1].next, 2u);
  EXPECT_EQ(actions[1].log_reward, 0.5);
  EXPECT_EQ(grid.text(actions[2].next), "(0, 0, 1)");
  EXPECT_TRUE(grid.is_end(3));
  EXPECT_FALSE(grid.is_end(2));
  EXPECT_EQ(grid.num_states(), 4u);
}

TEST(HashedProgram, SaysWhatTheProgramDefines) {
  const ProgramParts grid = HashedProgram<Grid>().parts(), bag = HashedProgram<Bag>().parts();
  EXPECT_TRUE(grid.has_reward && !grid.has_upper && grid.objects == ProgramObjects::kEnds);
  EXPECT_TRUE(!bag.has_reward && bag.has_upper && bag.objects == ProgramObjects::kPaths);
}

TEST(HashedProgram, MergesStatesOfOneCanonicalForm) {
  HashedProgram<Bag> bag;
  EXPECT_EQ(bag.id_of("ab"), bag.id_of("ba"));
  EXPECT_NE(bag.id_of("aa"), bag.id_of("ba"));
}

TEST(HashedProgram, FindsEachOfManyStatesAgain) {
  HashedProgram<Grid> grid;
  for (const bool is_again : {false, true}) {
    for (int i = 0; i < 100'000; ++i) {
      ASSERT_EQ(grid.id_of({i % 317, i / 317, i % 2}), static_cast<StateId>(i)) << is_again;
    }
  }
  EXPECT_EQ(grid.num_states(), 100'000u);
  EXPECT_GE(grid.bytes(), 100'000 * sizeof(Grid::State));
}

}  // namespace
}  // namespace treesample
