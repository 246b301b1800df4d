#include "oracle/worker_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

namespace treesample {
namespace {

// An exception in a worker's thread would end the program.
TEST(WorkerPool, AnOracleThatCannotBeMadeIsAFailedEvaluation) {
  std::atomic<int> num_tries = 0;
  OracleSource source{.make = [&](const StopSignal&) -> std::unique_ptr<Oracle> {
                        ++num_tries;
                        throw std::runtime_error("no licence");
                      },
                      .max_retries = 1,
                      .description = "program 'p'"};
  WorkerPool pool({.sources = {source}, .source_of = {0}, .describe = [](const Job&) { return "here"; }});
  pool.push({.factor = 0, .states = {1}});
  const std::vector<JobResult> results = pool.take(true);
  ASSERT_EQ(results.size(), 1U);
  ASSERT_TRUE(results[0].error);
  EXPECT_STREQ(results[0].error->what(), "program 'p': here failed 2 times, the last time: no licence");
  EXPECT_EQ(num_tries, 2);
}

// Keeps the sizes of all batches, and answers none before all jobs have been asked.
class Counting final : public Oracle {
 public:
  Counting(std::vector<std::size_t>& sizes, std::mutex& mutex) : sizes_(sizes), mutex_(mutex) {}
  void prepare() override {}
  std::vector<Evaluation> log_values(int, std::span<const std::vector<int>> assignments) override {
    {
      const std::lock_guard lock(mutex_);
      sizes_.push_back(assignments.size());
    }
    while (num_asked() < 6) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return std::vector<Evaluation>(assignments.size());
  }

 private:
  std::size_t num_asked() {
    const std::lock_guard lock(mutex_);
    return std::accumulate(sizes_.begin(), sizes_.end(), std::size_t{0});
  }
  std::vector<std::size_t>& sizes_;
  std::mutex& mutex_;
};

TEST(WorkerPool, ABatchIsSharedByTheWorkersThatWait) {
  std::vector<std::size_t> sizes;
  std::mutex mutex;
  OracleSource source{.make = [&](const StopSignal&) { return std::make_unique<Counting>(sizes, mutex); },
                      .max_batch = 6,
                      .description = "program 'p'"};
  WorkerPool pool({.sources = {source}, .source_of = {0}, .num_workers = 2});
  while (pool.num_idle() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (int i = 0; i < 6; ++i) pool.push({.factor = 0, .states = {i}});
  std::size_t num_answers = 0;
  while (num_answers < 6) num_answers += pool.take(true).size();
  EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 3}));
}

}  // namespace
}  // namespace treesample
