#include "oracle/worker_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

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

}  // namespace
}  // namespace treesample
