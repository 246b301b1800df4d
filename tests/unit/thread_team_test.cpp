#include "thread_team.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "space/num_threads.hpp"
#include "support/expect_error.hpp"
#include "treesample/error.hpp"

namespace treesample {
namespace {

TEST(ThreadTeam, EveryPieceIsDoneOnce) {
  for (const int num_threads : {1, 2, 5}) {
    ThreadTeam team(num_threads);
    EXPECT_EQ(team.size(), num_threads);
    for (const std::size_t count : {0U, 1U, 2U, 7U, 1000U}) {
      for (const std::size_t grain : {1U, 3U, 5000U}) {
        std::vector<std::atomic<int>> num_done(count);
        team.run(count, grain, [&](std::size_t first, std::size_t last, int worker) {
          EXPECT_GE(worker, 0);
          EXPECT_LT(worker, num_threads);
          EXPECT_LE(last - first, grain);
          for (std::size_t i = first; i < last; ++i) ++num_done[i];
        });
        for (const std::atomic<int>& times : num_done) EXPECT_EQ(times, 1);
      }
    }
  }
}

TEST(ThreadTeam, ThrowsWhatTheWorkThrowsAndGoesOnAfterwards) {
  ThreadTeam team(3);
  for (int round = 0; round < 20; ++round) {
    EXPECT_THROW(team.run(100, 1,
                          [](std::size_t first, std::size_t, int) {
                            if (first == 17) throw std::out_of_range("17");
                          }),
                 std::out_of_range);
    std::atomic<int> num_done = 0;
    team.run(100, 1, [&](std::size_t, std::size_t, int) { ++num_done; });
    EXPECT_EQ(num_done, 100);
  }
}

TEST(ThreadTeam, EndsWhenAsked) {
  ThreadTeam team(2);
  std::atomic<int> num_done = 0;
  testing::expect_error(ErrorCode::kInterrupted, [&] {
    team.run(
        1'000'000, 1, [&](std::size_t, std::size_t, int) { ++num_done; }, [&] { return num_done > 10; });
  });
  EXPECT_LT(num_done, 1'000'000);
}

TEST(ThreadTeam, ManyShortLoopsFollowEachOther) {
  for (const int num_threads : {2, 4, 9}) {
    ThreadTeam team(num_threads);
    std::vector<int> numbers(64, 0);  // each written by whoever has the piece
    for (int round = 0; round < 10'000; ++round) {
      team.run(numbers.size(), 1, [&](std::size_t first, std::size_t, int) { ++numbers[first]; });
    }
    EXPECT_EQ(numbers, std::vector<int>(64, 10'000));
  }
}

TEST(ThreadTeam, OthersWorkBetweenBeginAndEnd) {
  ThreadTeam team(3);
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> num_done = 0;
    const ThreadTeam::Work work = [&](std::size_t, std::size_t, int) { ++num_done; };
    team.begin(50, 1, work);
    if (round % 3 == 1) {
      while (num_done == 0) std::this_thread::yield();  // the calling thread has none of them
    }
    team.end();
    EXPECT_EQ(num_done, 50);
  }
}

TEST(ThreadTeam, WhatIsBegunEndsBeforeWhatItWorksOnDoes) {
  for (int round = 0; round < 200; ++round) {
    std::vector<std::atomic<int>> num_done(1000);
    const ThreadTeam::Work work = [&](std::size_t first, std::size_t, int) { ++num_done[first]; };
    ThreadTeam team(4);
    team.begin(num_done.size(), 1, work);
    if (round % 2 == 0) {
      team.cancel();
      const int sum = std::accumulate(num_done.begin(), num_done.end(), 0);
      std::this_thread::yield();
      EXPECT_EQ(std::accumulate(num_done.begin(), num_done.end(), 0), sum);
    } else if (round % 4 == 1) {
      std::atomic<int> num_others = 0;
      team.run(10, 1, [&](std::size_t, std::size_t, int) { ++num_others; });  // cancels the other
      EXPECT_EQ(num_others, 10);
    }
  }
}

TEST(ThreadTeam, RefusesNoThreads) {
  EXPECT_THROW(ThreadTeam(0), Error);
  EXPECT_GE(num_cores(), 1);
  EXPECT_EQ(num_threads({.threads = 3}), 3);
  EXPECT_EQ(num_threads({.threads = 0}), num_cores());
}

}  // namespace
}  // namespace treesample
