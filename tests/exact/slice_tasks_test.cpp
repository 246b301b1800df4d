// Slices that an executor computes: the same bits whoever does them, and in whatever order.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>

#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/max_product.hpp"
#include "treesample/exact/slice_sum.hpp"
#include "treesample/families/ising.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/thread_executor.hpp"

namespace treesample {
namespace {

FactorGraph grid() { return make_ising({.n = 7}, 3).graph; }

EliminationPlan sliced_plan(const FactorGraph& graph, double bytes) {
  EliminationOptions options;
  options.most_bytes = bytes;
  options.goal = EliminationGoal::kMarginals;
  EliminationPlan plan = plan_elimination(graph, options);
  EXPECT_GE(plan.num_slices, 4.0);
  return plan;
}

Elimination eliminate(const FactorGraph& graph, const std::shared_ptr<Executor>& executor, const SliceWork& more = {}) {
  SliceWork work = more;
  work.executor = executor;
  Limits limits;
  limits.bytes = 1 << 11;
  EliminationOptions options;
  options.goal = EliminationGoal::kMarginals;
  options.may_slice = true;
  return {graph, sliced_plan(graph, 1 << 11), limits, options, {}, work};
}

void expect_near(const Marginals& found, const Marginals& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t v = 0; v < found.size(); ++v) {
    for (std::size_t a = 0; a < found[v].size(); ++a) EXPECT_NEAR(found[v][a], expected[v][a], 1e-9) << v;
  }
}

TEST(SliceTasks, LogZAndMarginalsHaveTheBitsOfSlicesThatAreSummedHere) {
  const FactorGraph graph = grid();
  const Elimination here = eliminate(graph, nullptr);
  const Elimination whole(graph);
  EXPECT_NEAR(here.log_z(), whole.log_z(), 1e-9);
  const Marginals by_one = eliminate(graph, std::make_shared<ThreadExecutor>(1, do_slice_task)).marginals();
  for (const int num_threads : {1, 3}) {
    const Elimination there = eliminate(graph, std::make_shared<ThreadExecutor>(num_threads, do_slice_task));
    EXPECT_EQ(there.log_z(), here.log_z());
    EXPECT_EQ(there.bounds().lower, here.bounds().lower);
    EXPECT_EQ(there.bounds().upper, here.bounds().upper);
    expect_near(there.marginals(), here.marginals());  // here they are summed in slices of their own
    EXPECT_EQ(there.marginals(), by_one);
    Random random(1);
    EXPECT_GT(graph.log_density(there.sample(random)), -HUGE_VAL);
  }
}

TEST(SliceTasks, TheMostProbableConfigurationIsTheSame) {
  const FactorGraph graph = grid();
  const EliminationPlan plan = sliced_plan(graph, 1 << 11);
  ThreadExecutor executor(3, do_slice_task);
  const auto here = most_probable(graph, {}, plan), there = most_probable(graph, {}, plan, {}, &executor);
  ASSERT_TRUE(here && there);
  EXPECT_EQ(here->configuration.x, there->configuration.x);
  EXPECT_EQ(here->log_upper, there->log_upper);
  EXPECT_TRUE(there->is_optimal());
}

TEST(SliceTasks, ImpossibleSlicesCostNothingAndAddNothing) {
  FactorGraph graph = grid();
  for (int v = 0; v < 6; ++v) graph.add_table({7 * v, 7 * v + 7}, {0.0, -HUGE_VAL, -HUGE_VAL, 0.0});
  const Elimination there = eliminate(graph, std::make_shared<ThreadExecutor>(2, do_slice_task));
  EXPECT_NEAR(there.log_z(), Elimination(graph).log_z(), 1e-9);
  expect_near(there.marginals(), eliminate(graph, nullptr).marginals());
}

TEST(SliceTasks, WhatAFileHasIsNotComputedAgain) {
  const FactorGraph graph = grid();
  const std::string file = testing::TempDir() + "slice_tasks_test.slices";
  std::filesystem::remove(file);
  std::atomic<int> num_slices = 0;
  const auto counting = std::make_shared<ThreadExecutor>(2, [&](auto shared, const auto& kind, auto arguments) {
    num_slices += static_cast<int>(arguments[1] - arguments[0]);
    return do_slice_task(shared, kind, arguments);
  });
  SliceWork part{.file = file};
  part.end = 3;
  EXPECT_THROW(eliminate(graph, counting, part), Error);  // the others are left
  EXPECT_EQ(num_slices, 3);
  const Elimination rest = eliminate(graph, counting, {.file = file});
  EXPECT_EQ(num_slices, static_cast<int>(rest.plan().num_slices));
  EXPECT_EQ(rest.log_z(), eliminate(graph, nullptr).log_z());
  std::filesystem::remove(file);
}

TEST(SliceTasks, InferGivesTheSameBitsForAnyNumberOfThreads) {
  const Model model(grid());
  const auto answer = [&](int num_threads, int num_workers) {
    class SoMany final : public Executor {  // plans for another number of workers than there are
     public:
      SoMany(int num_threads, int num_workers) : threads_(num_threads, do_slice_task), num_workers_(num_workers) {}
      [[nodiscard]] int num_workers() const override { return num_workers_; }
      std::int64_t share(std::string bytes) override { return threads_.share(std::move(bytes)); }
      std::int64_t submit(std::vector<Task> tasks) override { return threads_.submit(std::move(tasks)); }
      std::vector<Result> take(double seconds) override { return threads_.take(seconds); }
      void cancel() override { threads_.cancel(); }

     private:
      ThreadExecutor threads_;
      int num_workers_;
    };
    InferOptions options;
    options.executor = std::make_shared<SoMany>(num_threads, num_workers);
    Limits limits;
    limits.bytes = 1 << 11;
    return infer(model, {}, limits, options);
  };
  const Answer one = answer(1, 4), three = answer(3, 4);
  EXPECT_NE(one.method.find("slices"), std::string::npos) << one.method;
  EXPECT_EQ(one.log_z, three.log_z);
  EXPECT_EQ(one.marginals, three.marginals);
  ASSERT_TRUE(one.best && three.best);
  EXPECT_EQ(one.best->x, three.best->x);
  EXPECT_NEAR(*one.log_z, *infer(model).log_z, 1e-9);
}

TEST(SliceTasks, AFailureOfAWorkerEndsTheElimination) {
  const auto failing = std::make_shared<ThreadExecutor>(
      2, [](auto, const auto&, auto) -> std::vector<double> { throw Error(ErrorCode::kResource, "no memory there"); });
  try {
    eliminate(grid(), failing);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kResource);
    EXPECT_STREQ(error.what(), "no memory there");
  }
}

TEST(SliceTasks, DamagedMessagesAreRefused) {
  const FactorGraph graph = grid();
  std::string message;
  class Listening final : public Executor {
   public:
    explicit Listening(std::string& message) : message_(message) {}
    [[nodiscard]] int num_workers() const override { return 1; }
    std::int64_t share(std::string bytes) override {
      message_ = std::move(bytes);
      throw Error(ErrorCode::kInterrupted, "heard");
    }
    std::int64_t submit(std::vector<Task>) override { return 0; }
    std::vector<Result> take(double) override { return {}; }
    void cancel() override {}

   private:
    std::string& message_;
  };
  EXPECT_THROW(eliminate(graph, std::make_shared<Listening>(message)), Error);
  const std::vector<std::int64_t> first = {0, 1};
  EXPECT_EQ(do_slice_task(message, "slices", first).size(), 3U);
  for (std::size_t length = 0; length < message.size(); length += 7) {
    EXPECT_THROW(do_slice_task(message.substr(0, length), "slices", first), Error) << length;
  }
  EXPECT_THROW(do_slice_task(message + "x", "slices", first), Error);
  EXPECT_THROW(do_slice_task(message, "slice", first), Error);
  const std::vector<std::int64_t> beyond = {0, 1 << 20}, none = {};
  EXPECT_THROW(do_slice_task(message, "slices", beyond), Error);
  EXPECT_THROW(do_slice_task(message, "slices", none), Error);
}

}  // namespace
}  // namespace treesample
