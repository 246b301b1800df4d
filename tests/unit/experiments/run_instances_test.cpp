#include "experiments/run_instances.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "experiments/experiment.hpp"
#include "experiments/run_cases.hpp"
#include "experiments/tune.hpp"
#include "support/expect_error.hpp"
#include "treesample/error.hpp"

namespace treesample::experiments {
namespace {

std::vector<std::string> make_keys(int count) {
  std::vector<std::string> keys;
  for (int i = 0; i < count; ++i) keys.push_back("key/" + std::to_string(i));
  return keys;
}

TEST(ParallelFor, CallsEachIndexOnceOnAnyNumberOfThreads) {
  for (const int num_threads : {1, 2, 7}) {
    std::vector<std::atomic<int>> calls(100);
    parallel_for(100, num_threads, [&](int i) { return ++calls[i] > 0; });
    for (const std::atomic<int>& count : calls) EXPECT_EQ(count, 1);
  }
}

TEST(ParallelFor, PassesTheExceptionOnAndStopsEarly) {
  std::atomic<int> num_calls = 0;
  std::atomic<bool> has_thrown = false;
  EXPECT_THROW(parallel_for(100'000, 2,
                            [&](int i) {
                              ++num_calls;
                              if (i == 3) {
                                has_thrown = true;
                                throw std::runtime_error("bad");
                              }
                              // The other thread cannot make all calls, however late the exception is caught.
                              while (num_calls > 50'000 && !has_thrown) std::this_thread::yield();
                              if (has_thrown) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                              return true;
                            }),
               std::runtime_error);
  EXPECT_LT(num_calls, 100'000);
}

TEST(RunInstances, AnInterruptedRunGoesOnWithoutRepeatingOrLosing) {
  RunStore store(":memory:", {});
  const std::vector<std::string> keys = make_keys(20);
  std::vector<std::atomic<int>> calls(20);
  const Compute compute = [&](int i) {
    ++calls[i];
    return Numbers{{"square", static_cast<double>(i * i)}};
  };
  std::atomic<int> num_asked = 0;
  RunControl stopping{.num_threads = 2};
  stopping.is_interrupted = [&] { return ++num_asked > 8; };
  EXPECT_FALSE(run_instances(store, keys, compute, stopping).has_value());
  EXPECT_EQ(store.finished().size(), 8u);

  int first_finished = -1;
  RunControl going{.num_threads = 2};
  going.show_progress = [&](const RunProgress& now) {
    if (first_finished < 0) first_finished = now.num_finished;
    EXPECT_EQ(now.num_instances, 20);
  };
  const auto results = run_instances(store, keys, compute, going);
  ASSERT_TRUE(results.has_value());
  EXPECT_EQ(first_finished, 8);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(calls[i], 1);
    EXPECT_EQ((*results)[i].at("square"), i * i);
  }
}

TEST(RunInstances, AComputationThatGaveUpIsNotKept) {
  RunStore store(":memory:", {});
  const auto results = run_instances(store, make_keys(5),
                                     [](int i) -> std::optional<Numbers> {
                                       return i == 2 ? std::nullopt : std::optional<Numbers>({{"x", 1.0}});
                                     },
                                     {.num_threads = 1});
  EXPECT_FALSE(results.has_value());
  EXPECT_EQ(store.finished().size(), 2u);
}

class Table1Test : public testing::TemporaryFolder {
 protected:
  std::string csv(const std::string& name, int num_threads, int num_instances) const {
    ExperimentOptions options{.num_instances = num_instances, .budget = 600, .seed = 3};
    options.folder = in_folder(name);
    std::filesystem::create_directories(options.folder);
    return run_table1(options, {.num_threads = num_threads}).value().csv_files.at(0).text;
  }
};

TEST_F(Table1Test, NumbersDoNotDependOnThreadsOrOnExtendingARun) {
  const std::string whole = csv("one", 1, 3);
  EXPECT_EQ(csv("two", 2, 3), whole);
  EXPECT_NE(csv("three", 2, 2), whole);
  EXPECT_EQ(csv("three", 2, 3), whole);
}

TEST(Hyperparameters, BuiltInOnesCoverEveryProblemAndMethod) {
  const Hyperparameters built_in = Hyperparameters::built_in();
  for (const Problem& problem : paper_problems()) {
    for (const Contender method : all_contenders())
      EXPECT_NO_THROW(static_cast<void>(built_in.setting(problem, method)));
  }
  EXPECT_EQ(Hyperparameters(built_in.text(), "text").text(), built_in.text());
}

TEST(Hyperparameters, ErrorsNameTheLine) {
  for (const char* text : {"chain best tree c=x\n", "chain best tree c=-1\n", "chain best tree d=1\n",
                           "chain worst tree c=1\n", "chain\n", "chain best tree c\n"}) {
    SCOPED_TRACE(text);
    testing::expect_error(ErrorCode::kParse, "file:2",
                          [&] { Hyperparameters(std::string("# comment\n") + text, "file"); });
  }
}

TEST(Tune, ChoosesTheGridValueWithTheLowestMean) {
  const TuneOptions options{.budget = 300, .seed = 1, .num_instances = 2, .problems = {{"chain", Reading::kBest}}};
  const auto text = tune(options, ":memory:", {.num_threads = 1});
  ASSERT_TRUE(text.has_value());
  const MethodSetting chosen = Hyperparameters(*text, "tuned").setting({"chain", Reading::kBest}, Contender::kTree);
  // The same problems and seeds again, by hand.
  const std::uint64_t seed = tuning_seed(1);
  const auto mean = [&](const MethodSetting& setting) {
    double sum = 0.0;
    for (const std::uint64_t i : {0, 1}) {
      const FactorGraph graph = make_family("chain", {.reading = Reading::kBest, .seed = seed, .instance = i}).graph;
      const std::string key = "chain/best/" + std::to_string(i);
      sum += run_method(graph, setting, {.budget = 300, .seed = method_seed(seed, key, Contender::kTree)})->delta_kl;
    }
    return sum;
  };
  for (const MethodSetting& other : tuning_grid({"chain", Reading::kBest}, Contender::kTree)) {
    EXPECT_LE(mean(chosen), mean(other) + 1e-8) << other.tuned_text();
  }
}

TEST(RunCases, EachCaseHasItsInstancesInTheirOrder) {
  ExperimentOptions options{.num_instances = 3,
                            .folder = std::filesystem::path(::testing::TempDir()) / "run_cases_test"};
  std::filesystem::remove_all(options.folder);
  std::filesystem::create_directories(options.folder);
  std::vector<int> turns;
  const auto compute = [&](int which, int instance) {
    turns.push_back(which);
    return Numbers{{"value", 10.0 * which + instance}};
  };
  for (int run = 0; run < 2; ++run) {  // the second time from the file
    const auto runs = run_cases("test", {"a", "b"}, options, compute, {.num_threads = 1});
    ASSERT_TRUE(runs);
    EXPECT_EQ(column(runs->of(0), "value"), (std::vector<double>{0.0, 1.0, 2.0}));
    EXPECT_EQ(column(runs->of(1), "value"), (std::vector<double>{10.0, 11.0, 12.0}));
  }
  EXPECT_EQ(turns, (std::vector<int>{0, 1, 0, 1, 0, 1}));
  std::filesystem::remove_all(options.folder);
}

}  // namespace
}  // namespace treesample::experiments
