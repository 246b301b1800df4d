// Slices that are kept in a file: a resumed run gives the same bits as an uninterrupted one, and damage is refused or
// makes no difference.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/slice_sum.hpp"
#include "treesample/io/file.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

using testing::random_model;

class SliceFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / (std::string("treesample_slices_") + std::to_string(::getpid()) + "_" +
                                                  ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    path_ = (folder_ / "slices").string();
    Random random(71);
    graph_ = random_model(random, {.num_variables = 12,
                                   .min_states = 2,
                                   .max_states = 3,
                                   .num_factors = 40,
                                   .min_arity = 2,
                                   .max_arity = 3,
                                   .zero_probability = 0.1});
    limits_.bytes =
        static_cast<std::size_t>(0.2 * plan_elimination(graph_, {.goal = EliminationGoal::kLogZ}).log_z_bytes);
    limits_.threads = 1;
    expected_ = bits_of(Elimination(graph_, limits_, {.may_slice = true}));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::vector<double> bits_of(const Elimination& elimination) {
    return {elimination.log_z(), elimination.bounds().lower, elimination.bounds().upper, elimination.plan().num_slices};
  }
  std::vector<double> run(const Observer& observer = {}) const {
    return bits_of(Elimination(graph_, limits_, {.may_slice = true}, observer, {.file = path_}));
  }
  // A run must fail, and name the file.
  void expect_refused(ErrorCode code) const {
    const std::string message = testing::message_of(code, [&] { run(); });
    EXPECT_NE(message.find(path_), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
  void write(const std::string& text) const { write_file_atomically(path_, text); }

  std::filesystem::path folder_;
  std::string path_;
  FactorGraph graph_;
  Limits limits_;
  std::vector<double> expected_;
};

TEST_F(SliceFile, RunsThatGoOnHaveTheBitsOfOne) {
  ASSERT_GT(expected_[3], 4.0);
  Random random(72);
  int num_runs = 0;
  for (int trial = 0; trial < 10; ++trial) {
    std::filesystem::remove(path_);
    for (bool is_done = false; !is_done; ++num_runs) {
      int left = 5 + static_cast<int>(random.below(30));
      double lower = -HUGE_VAL;
      const Observer observer{.progress = [&](const Progress& now) { lower = std::max(lower, now.log_z.lower); },
                              .should_stop = [&] { return --left < 0; }};
      try {
        EXPECT_EQ(run(observer), expected_);
        is_done = true;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInterrupted);
      }
      EXPECT_LE(lower, expected_[2]);
    }
  }
  EXPECT_GT(num_runs, 30);
  // All slices are in the file: nothing is eliminated any more.
  int num_asked = 0;
  EXPECT_EQ(run({.should_stop = [&] { return ++num_asked > static_cast<int>(expected_[3]) + 1; }}), expected_);
}

TEST_F(SliceFile, WhatIsDamagedIsRefusedOrMakesNoDifference) {
  ASSERT_EQ(run(), expected_);
  const std::string text = read_file(path_);
  int num_refused = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ (i % 2 == 0 ? 0x01 : 0x10));
    write(damaged);
    try {
      ASSERT_EQ(run(), expected_) << i;
    } catch (const Error& error) {
      ASSERT_TRUE(error.code() == ErrorCode::kParse || error.code() == ErrorCode::kArgument) << error.what();
      ++num_refused;
    }
  }
  EXPECT_GT(num_refused, static_cast<int>(text.size()) - 100);  // an incomplete last line is computed again
}

TEST_F(SliceFile, WhatIsCutOffIsMadeAgain) {
  ASSERT_EQ(run(), expected_);
  const std::string text = read_file(path_);
  for (std::size_t size = 0; size <= text.size(); size += 13) {
    write(text.substr(0, size));
    ASSERT_EQ(run(), expected_) << size;
    ASSERT_EQ(read_file(path_), text);
  }
}

TEST_F(SliceFile, OthersAreRefused) {
  write("something else");
  expect_refused(ErrorCode::kParse);
  write("something else\n");
  expect_refused(ErrorCode::kParse);
  write(std::string(100, '\0'));
  expect_refused(ErrorCode::kParse);
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  expect_refused(ErrorCode::kIo);
  std::filesystem::remove(path_);
  run();
  graph_.add_table({0}, std::vector<double>(static_cast<std::size_t>(graph_.num_states(0)), 0.5));
  expect_refused(ErrorCode::kArgument);
}

// Slices may be in any order, and some may be missing: those are summed. The same one twice is damage.
TEST_F(SliceFile, LinesMayBeInAnyOrderButNotTwice) {
  run();
  const std::string text = read_file(path_);
  const std::size_t head = text.find('\n') + 1, first = text.find('\n', head) + 1, second = text.find('\n', first) + 1;
  write(text.substr(0, head) + text.substr(first));
  EXPECT_EQ(run(), expected_);
  write(text.substr(0, head) + text.substr(second) + text.substr(head, second - head));
  EXPECT_EQ(run(), expected_);
  write(text.substr(0, second) + text.substr(first));
  expect_refused(ErrorCode::kParse);
  write(text + text.substr(head));
  expect_refused(ErrorCode::kParse);
}

TEST_F(SliceFile, PartsAddUpWithBoundsAtAnyStage) {
  const auto num_slices = static_cast<std::uint64_t>(expected_[3]);
  ASSERT_GT(num_slices, 4U);
  std::vector<std::filesystem::path> parts;
  for (std::uint64_t first = 0; first < num_slices; first += 3) {
    parts.push_back(folder_ / ("part" + std::to_string(first)));
    const SliceWork work{.file = parts.back(), .log_slack = 1e-9, .first = first, .end = first + 4};  // parts overlap
    testing::expect_error(ErrorCode::kInterrupted,
                          [&] { Elimination(graph_, limits_, {.may_slice = true}, {}, work); });
    const SliceSum sum = sum_slices(parts);
    EXPECT_EQ(sum.num_slices, num_slices);
    EXPECT_EQ(sum.num_done, std::min(num_slices, first + 4));
    EXPECT_LE(sum.log_z.lower, expected_[1]);
    EXPECT_GE(sum.log_z.upper, expected_[2]);
    EXPECT_EQ(sum.log_z.upper - sum.log_z.lower < 1e-6, sum.num_done == num_slices);
  }
  const SliceSum whole = sum_slices(parts, path_);
  EXPECT_EQ(whole.estimate, expected_[0]);
  EXPECT_NEAR(whole.log_z.lower, expected_[1] - 1e-9, 1e-13);
  EXPECT_NEAR(whole.log_z.upper, expected_[2] + 1e-9, 1e-13);
  // Nothing is eliminated any more.
  int num_asked = 0;
  EXPECT_EQ(run({.should_stop = [&] { return ++num_asked > static_cast<int>(num_slices) + 1; }}), expected_);
}

TEST_F(SliceFile, SumsOfOtherEliminationsAreRefused) {
  run();
  const std::string first = path_;
  testing::expect_error(ErrorCode::kArgument, [] { sum_slices({}); });
  testing::expect_error(ErrorCode::kIo, "none", [&] { sum_slices({first, folder_ / "none"}); });
  write_file_atomically(folder_ / "empty", "");
  testing::expect_error(ErrorCode::kArgument, "empty", [&] { sum_slices({first, folder_ / "empty"}); });
  graph_.add_table({0}, std::vector<double>(static_cast<std::size_t>(graph_.num_states(0)), 0.5));
  path_ = folder_ / "other";
  run();
  testing::expect_error(ErrorCode::kArgument, "other", [&] { sum_slices({first, path_}); });
}

TEST_F(SliceFile, LessMemoryThanTheSlicesNeedIsRefused) {
  run();
  limits_.bytes /= 4;
  testing::expect_error(ErrorCode::kResource, [&] { run(); });
}

TEST_F(SliceFile, NothingIsKeptWhereThereAreNoSlices) {
  limits_.bytes = std::size_t{1} << 30;
  run();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace treesample
