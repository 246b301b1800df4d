// Calls that an executor makes: each counted once, whatever becomes of its workers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/oracle/oracle_set.hpp"

namespace treesample {
namespace {

double value_of(const std::vector<std::int64_t>& states) {
  double sum = 0.0;
  for (const std::int64_t s : states) sum = 0.7 * sum + std::sin(1.0 + static_cast<double>(s));
  return sum;
}

// Does tasks itself, the last one first, and hands out results twice: as an executor does whose workers die.
class Backwards final : public Executor {
 public:
  explicit Backwards(int num_workers) : num_workers_(num_workers) {}
  [[nodiscard]] int num_workers() const override { return num_workers_; }
  std::int64_t share(std::string) override { return 0; }
  std::int64_t submit(std::vector<Executor::Task> tasks) override {
    const std::int64_t first = next_;
    for (Executor::Task& task : tasks) {
      tasks_.push_back({next_++, std::move(task)});
      most_under_way = std::max(most_under_way, std::ssize(tasks_));
    }
    return first;
  }
  std::vector<Executor::Result> take(double) override {
    if (tasks_.empty()) return {};
    auto [number, task] = std::move(tasks_.back());
    tasks_.pop_back();
    Executor::Result result{.number = number, .seconds = 0.5, .worker = "backwards"};
    const auto count = static_cast<std::size_t>(task.arguments[1]);
    const std::size_t width = (task.arguments.size() - 2) / count;
    for (std::size_t i = 0; i < count; ++i) {
      const auto first = task.arguments.begin() + 2 + static_cast<std::ptrdiff_t>(i * width);
      const std::vector<std::int64_t> states(first, first + static_cast<std::ptrdiff_t>(width));
      asked.push_back(states);
      result.values.push_back(value_of(states));
      if (states == failing) {
        if (count == 1) result.error = Error(ErrorCode::kIo, "it diverged");
        result.values.back() = NAN;
      }
    }
    if (is_broken) {
      result.error = Error(ErrorCode::kInterrupted, "no workers");
      result.is_executor_broken = true;
    }
    sizes.insert(count);
    return {result, result};
  }
  void cancel() override { tasks_.clear(); }

  std::vector<std::vector<std::int64_t>> asked;
  std::vector<std::int64_t> failing;
  std::set<std::size_t> sizes;  // of batches
  std::ptrdiff_t most_under_way = 0;
  bool is_broken = false;

 private:
  struct Numbered {
    std::int64_t number;
    Executor::Task task;
  };
  int num_workers_;
  std::int64_t next_ = 0;
  std::deque<Numbered> tasks_;
};

FactorGraph graph_of_a_function(int max_batch) {
  FactorGraph graph;
  for (int v = 0; v < 3; ++v) graph.add_variable(4);
  const auto never = [](auto...) -> double { throw Error(ErrorCode::kInternal, "called here"); };
  const auto never_batch = [](std::span<const int>, int, std::span<double>) {
    throw Error(ErrorCode::kInternal, "called here");
  };
  graph.add_factor(max_batch == 1 ? Factor::function({0, 1, 2}, [&](std::span<const int>) { return never(); })
                                  : Factor::batch_function({0, 1, 2}, never_batch, max_batch));
  return graph;
}

double exact_log_z() {
  double sum = 0.0;
  for (int i = 0; i < 64; ++i) sum += std::exp(value_of({i / 16, i / 4 % 4, i % 4}));
  return std::log(sum);
}

struct Case {
  int max_batch, num_workers;
};

class ExecutorEvaluatorsTest : public testing::TestWithParam<Case> {};

TEST_P(ExecutorEvaluatorsTest, EveryCallIsMadeElsewhereOnceAndCountedOnce) {
  const auto executor = std::make_shared<Backwards>(GetParam().num_workers);
  OracleOptions options{.num_workers = 0, .executor = executor};
  const Model model(std::make_shared<OracleSet>(graph_of_a_function(GetParam().max_batch), "1", options));
  InferOptions how;
  how.noise = "no";
  const Answer answer = infer(model, {}, {.calls = 1000}, how);
  EXPECT_NEAR(*answer.log_z, exact_log_z(), 1e-9);
  EXPECT_EQ(executor->asked.size(), 64U);
  EXPECT_EQ(std::set(executor->asked.begin(), executor->asked.end()).size(), 64U);
  ASSERT_EQ(answer.program_counts.size(), 1U);
  EXPECT_EQ(answer.program_counts[0].paid, 64);
  if (GetParam().max_batch > 1) EXPECT_GT(*executor->sizes.rbegin(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ExecutorEvaluatorsTest,
                         testing::Values(Case{1, 1}, Case{1, 5}, Case{8, 1}, Case{8, 3}));

TEST(ExecutorEvaluators, ARowThatFailsIsAskedAgainAloneAndNamed) {
  const auto executor = std::make_shared<Backwards>(2);
  executor->failing = {1, 2, 3};
  OracleOptions options{.num_workers = 2, .executor = executor};
  options.on_failure[0] = {FailureRule::Kind::kImpossible};
  OracleSet oracles(graph_of_a_function(16), "1", options);
  std::vector<OracleQuestion> questions;
  for (int i = 0; i < 64; ++i) questions.push_back({0, {i / 16, i / 4 % 4, i % 4}});
  const OracleAnswer answer = oracles.wait(oracles.submit(questions));
  for (int i = 0; i < 64; ++i) {
    const double expected = value_of({i / 16, i / 4 % 4, i % 4});
    EXPECT_EQ(answer.log_values[static_cast<std::size_t>(i)], i == 27 ? -HUGE_VAL : expected + 0.0) << i;
  }
  EXPECT_EQ(oracles.counts()[0].failed, 1);
  EXPECT_EQ(oracles.counts()[0].paid, 63);
  EXPECT_EQ(executor->asked.size(), 65U);
  EXPECT_TRUE(executor->sizes.contains(1));
}

TEST(ExecutorEvaluators, AnExecutorThatBreaksDownIsNoFailureOfACall) {
  const auto executor = std::make_shared<Backwards>(2);
  executor->is_broken = true;
  OracleOptions options{.num_workers = 2, .executor = executor};
  options.on_failure[0] = {FailureRule::Kind::kImpossible};
  OracleSet oracles(graph_of_a_function(1), "1", options);
  EXPECT_THROW(oracles.wait(oracles.submit({{0, {0, 0, 0}}})), Error);
  EXPECT_EQ(oracles.counts()[0].failed, 0);
}

TEST(ExecutorEvaluators, TheNumberOfWorkersGrowsWithTheExecutorAndNeverShrinks) {
  class Growing final : public Executor {
   public:
    [[nodiscard]] int num_workers() const override { return now; }
    std::int64_t share(std::string) override { return 0; }
    std::int64_t submit(std::vector<Executor::Task>) override { return 0; }
    std::vector<Executor::Result> take(double) override { return {}; }
    void cancel() override {}
    int now = 2;
  };
  const auto executor = std::make_shared<Growing>();
  const OracleSet oracles(graph_of_a_function(1), "1", {.num_workers = 0, .executor = executor});
  EXPECT_EQ(oracles.max_under_way(), 2);
  executor->now = 7;
  EXPECT_EQ(oracles.max_under_way(), 7);
  executor->now = 3;
  EXPECT_EQ(oracles.max_under_way(), 7);
}

}  // namespace
}  // namespace treesample
