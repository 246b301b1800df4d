#include <gtest/gtest.h>
#include <stdlib.h>

#include <set>

#include "experiments/experiment.hpp"
#include "experiments/statistics.hpp"
#include "experiments/table2/results.hpp"
#include "treesample/error.hpp"

namespace treesample::experiments {
namespace {

constexpr TrainingSize kTiny{.budget = 60, .num_episodes = 3, .seed = 5};

const std::vector<Reading> kBoth = {Reading::kLetter, Reading::kBest};

const Trainer& trainer_called(const std::string& word) {
  for (const Trainer& trainer : table2_trainers()) {
    if (trainer.word == word) return trainer;
  }
  throw std::runtime_error(word);
}

std::vector<const Trainer*> all_trainers() {
  std::vector<const Trainer*> all;
  for (const Trainer& trainer : table2_trainers()) all.push_back(&trainer);
  return all;
}

TrainingUnit unit_of(const std::string& column, const std::string& trainer, int run) {
  return {&training_column(column), &trainer_called(trainer), Reading::kBest, run};
}

TEST(Quantile, IsLinearBetweenOrderStatistics) {
  EXPECT_DOUBLE_EQ(quantile({4.0, 1.0, 2.0}, 0.5), 2.0);
  EXPECT_DOUBLE_EQ(quantile({4.0, 1.0, 2.0, 3.0}, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile({7.0}, 0.75), 7.0);
  EXPECT_EQ(quantile({HUGE_VAL, 1.0, 2.0}, 0.5), 2.0);
}

TEST(Table2, UnitsAreAllCellsOfEveryRunWithKeysOfTheirOwn) {
  const std::vector<TrainingUnit> units = training_units(3, kBoth, all_trainers());
  std::set<std::string> keys;
  for (const TrainingUnit& unit : units) keys.insert(key_of(unit));
  EXPECT_EQ(units.size(), 3U * 2 * (1 + 3 * 6 + 2 * 5));  // 8 iterations and a global value are nothing to a perceptron
  EXPECT_EQ(keys.size(), units.size());
}

TEST(Table2, ColumnsOfARunShareTheGraphAndRunsDoNot) {
  const TrainOptions mlp = train_options(unit_of("mlp-single", "smc", 1), kTiny);
  const TrainOptions gnn = train_options(unit_of("gnn-single", "ts8", 1), kTiny);
  EXPECT_EQ(mlp.seed, gnn.seed);
  EXPECT_TRUE(mlp.problems.is_single_graph && gnn.problems.is_single_graph);
  EXPECT_EQ(gnn.learner.iterations, 8);
  EXPECT_EQ(mlp.episode.method, InferenceMethod::kSmc);
  EXPECT_NE(mlp.seed, train_options(unit_of("mlp-single", "smc", 2), kTiny).seed);
  const TrainOptions transfer = train_options(unit_of("gnn-12", "exact", 1), kTiny);
  EXPECT_EQ(transfer.episode.targets, TargetKind::kExact);
  EXPECT_FALSE(transfer.problems.is_single_graph);
  EXPECT_EQ(transfer.problems.values.at("n"), 12.0);
  EXPECT_EQ(transfer.test_n, 20);
}

TEST(Table2, BlocksCoverAllEpisodes) {
  const TrainingSize paper;
  EXPECT_EQ(num_blocks(paper), 40);
  EXPECT_EQ(block_of(1, paper), 0);
  EXPECT_EQ(block_of(100, paper), 0);
  EXPECT_EQ(block_of(101, paper), 1);
  EXPECT_EQ(block_of(4000, paper), 39);
  EXPECT_EQ(num_blocks(kTiny), 3);
  EXPECT_EQ(block_of(3, kTiny), 2);
}

// The second half of 3 episodes is 2 and 3; blocks have one episode each and are relative to plain.
TEST(Table2, UnitAveragesTheSecondHalfOfItsEpisodes) {
  const TrainingUnit unit = unit_of("gnn-single", "ts", 0);
  const Numbers numbers = *run_training_unit(unit, kTiny, [] { return true; });
  EXPECT_NEAR(numbers.at("search") - numbers.at("plain"), (numbers.at("search.01") + numbers.at("search.02")) / 2.0,
              1e-9);
  EXPECT_NEAR(numbers.at("phi") - numbers.at("plain"), (numbers.at("phi.01") + numbers.at("phi.02")) / 2.0, 1e-9);
  EXPECT_NEAR(numbers.at("telescoped") - numbers.at("plain"),
              (numbers.at("telescoped.01") + numbers.at("telescoped.02")) / 2.0, 1e-9);
  // KL is above 0, as far as 128 samples tell.
  EXPECT_GT(numbers.at("plain") + numbers.at("log_z"), 0.0);
  EXPECT_GT(numbers.at("residual"), 0.0);
  EXPECT_FALSE(run_training_unit(unit, kTiny, [] { return false; }).has_value());
  EXPECT_FALSE(run_training_unit({.run = 0}, kTiny, [] { return false; }).has_value());
}

TEST(Table2, PairedRunsAreRelativeToTheirOwnProblemsAndUnpairedOnesToTheMedian) {
  const std::vector<TrainingUnit> units = training_units(3, kBoth, all_trainers());
  std::vector<Numbers> all;
  for (const TrainingUnit& unit : units) {
    const double plain = (unit.reading == Reading::kBest ? -30.0 : -90.0) - unit.run;
    all.push_back({{"plain", plain},
                   {"smc", plain + 2.0},
                   {"search", plain - 3.0},
                   {"phi", plain - 2.5},
                   {"telescoped", plain - 3.5},
                   {"log_z", 4.0 - plain}});
  }
  const Results results(units, all, Reading::kBest);
  const Line search{&trainer_called("ts"), Line::Of::kSearch};
  EXPECT_EQ(results.paired(search, 2), std::vector<double>(3, -3.0));
  EXPECT_EQ(results.paired({&trainer_called("ts"), Line::Of::kPhi}, 2), std::vector<double>(3, -2.5));
  EXPECT_EQ(results.paired({&trainer_called("smc"), Line::Of::kSearch}, 0), std::vector<double>(3, 2.0));
  EXPECT_EQ(results.unpaired(search, 0), (std::vector<double>{1.0, 0.0, -1.0}));
  EXPECT_TRUE(results.paired({&trainer_called("smc"), Line::Of::kPhi}, 0).empty());
  EXPECT_TRUE(results.paired({&trainer_called("ts8"), Line::Of::kPhi}, 1).empty());
  EXPECT_EQ(spread_of(results.unpaired(search, 2))->median, -3.0);
  EXPECT_EQ(results.kl({&trainer_called("ts"), Line::Of::kTelescoped}, 3), std::vector<double>(3, 0.5));
  EXPECT_EQ(results.plain_kl(trainer_called("ts"), 3), std::vector<double>(3, 4.0));
}

class Table2Run : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "table2_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    options_ = {.num_instances = 1,
                .budget = 60,
                .num_episodes = 2,
                .seed = 5,
                .methods = {"smc", "ts"},
                .readings = {Reading::kLetter, Reading::kBest},
                .folder = name};
  }
  void TearDown() override { std::filesystem::remove_all(options_.folder); }
  ExperimentOptions options_;
};

TEST_F(Table2Run, GoesOnWhereItWasInterruptedWithTheSameNumbers) {
  int num_finished = 0;
  int num_shown = 0;
  int num_under_way = 0;
  RunControl control{.num_threads = 1};
  control.show_progress = [&](const RunProgress& now) {
    num_finished = now.num_finished;
    if (now.remaining_seconds >= 0.0) ++num_shown;
    if (now.under_way > 0.0) ++num_under_way;
    EXPECT_LE(now.num_finished + now.under_way, now.num_instances);
  };
  control.is_interrupted = [&] { return num_finished >= 5; };
  EXPECT_FALSE(run_table2(options_, control).has_value());
  EXPECT_GT(num_shown, 5) << "the remaining time is shown after every episode";
  EXPECT_GT(num_under_way, 0) << "a unit that is not finished counts by its episodes";
  control.is_interrupted = [] { return false; };
  const Report resumed = *run_table2(options_, control);
  EXPECT_EQ(num_finished, 2 * 13);

  ExperimentOptions whole = options_;
  whole.folder = options_.folder / "whole";
  std::filesystem::create_directory(whole.folder);
  control.num_threads = 2;
  const Report at_once = *run_table2(whole, control);
  ASSERT_EQ(at_once.csv_files.size(), 3U);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(resumed.csv_files[i].text, at_once.csv_files[i].text);
  EXPECT_NE(at_once.csv_files[0].text.find("-3.87,-6.05,-0.88"), std::string::npos) << "the paper's cells";
  EXPECT_EQ(at_once.figures.size(), 2U * 5);  // five lines of two trainers
  ExperimentOptions wrong = options_;
  wrong.methods = {"ts", "bp"};
  EXPECT_THROW(run_table2(wrong, control), Error);
}

}  // namespace
}  // namespace treesample::experiments
