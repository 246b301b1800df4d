#include "treesample/train/train.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <numeric>

#include "support/expect_error.hpp"
#include "support/small_training.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/nn/network_file.hpp"

namespace treesample {
namespace {

class TrainTest : public testing::TemporaryFolder {
 protected:
  // Small enough for dozens of episodes in a second.
  [[nodiscard]] TrainOptions small_options() const { return testing::small_deterministic_training(12); }
  // The options of a run of so many episodes that was kept in the folder.
  [[nodiscard]] TrainOptions trained(int num_episodes) const {
    TrainOptions options = small_options();
    options.num_episodes = num_episodes;
    options.folder = folder_;
    train(options);
    return options;
  }
};

std::vector<float> parameters(const TrainReport& report) {
  const std::span<const float> values = parameters_of(*report.network).values();
  return {values.begin(), values.end()};
}

TEST_F(TrainTest, SameSeedSameBits) {
  TrainOptions options = small_options();
  const TrainReport first = train(options);
  EXPECT_EQ(first.num_episodes, 12);
  EXPECT_EQ(first.num_steps, 36);
  EXPECT_TRUE(first.is_finished);
  EXPECT_EQ(parameters(first), parameters(train(options)));
  options.seed = 6;
  EXPECT_NE(parameters(first), parameters(train(options)));
}

TEST_F(TrainTest, ResumingGivesTheBitsOfAnUnbrokenRun) {
  for (const char* architecture : {"gnn", "mlp"}) {
    TrainOptions options = small_options();
    options.learner.architecture = architecture;
    options.problems.is_single_graph = std::string(architecture) == "mlp";
    std::filesystem::remove_all(folder_);
    options.folder = folder_ / architecture / "unbroken";
    const TrainReport unbroken = train(options);
    const std::string expected_csv = read_file(options.folder / "progress.csv");

    options.folder = folder_ / architecture / "broken";
    options.resume = true;
    const TrainReport stopped = train(options, [](const EpisodeRecord& record) { return record.episode < 7; });
    EXPECT_FALSE(stopped.is_finished);
    EXPECT_EQ(stopped.num_episodes, 7);
    const TrainReport resumed = train(options);
    EXPECT_TRUE(resumed.is_finished);
    EXPECT_EQ(parameters(resumed), parameters(unbroken));
    EXPECT_EQ(read_file(options.folder / "progress.csv"), expected_csv);
  }
}

TEST_F(TrainTest, SurvivesSigkillWithNothingLostButTheCurrentEpisode) {
  TrainOptions options = small_options();
  options.num_episodes = 40;
  options.folder = folder_ / "unbroken";
  const TrainReport unbroken = train(options);
  options.folder = folder_ / "killed";
  options.resume = true;
  const pid_t child = fork();
  if (child == 0) {
    train(options, [](const EpisodeRecord& record) {
      if (record.episode == 23) kill(getpid(), SIGKILL);
      return true;
    });
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  std::vector<std::int64_t> episodes;
  const TrainReport resumed = train(options, [&](const EpisodeRecord& record) {
    episodes.push_back(record.episode);
    return true;
  });
  ASSERT_FALSE(episodes.empty());
  EXPECT_EQ(episodes.front(), 23);  // 22 were stored
  EXPECT_EQ(parameters(resumed), parameters(unbroken));
  EXPECT_EQ(read_file(folder_ / "killed" / "progress.csv"), read_file(folder_ / "unbroken" / "progress.csv"));
}

TEST_F(TrainTest, DivergedLearningEndsWithTheLastGoodCheckpoint) {
  TrainOptions options = trained(3);
  const std::filesystem::path path = folder_ / "checkpoint.safetensors";
  // Finite parameters so large that what the network gives is not.
  TensorFile file = parse_safetensors(read_file(path), "checkpoint");
  for (NamedTensor& tensor : file.tensors) {
    if (tensor.name.starts_with("parameters/")) std::fill(tensor.values.begin(), tensor.values.end(), 1e30F);
  }
  write_file_atomically(path, write_safetensors(file));
  const std::string before = read_file(path);
  const std::string network = read_file(folder_ / "network.safetensors");
  options.resume = true;
  options.num_episodes = 4;
  EXPECT_THROW(train(options), Error);
  EXPECT_EQ(read_file(path), before);
  EXPECT_EQ(read_file(folder_ / "network.safetensors"), network);
}

TEST_F(TrainTest, ARunThatEndsBeforeItsFirstEpisodeCanBeResumed) {
  TrainOptions options = small_options();
  options.folder = folder_;
  const pid_t child = fork();
  if (child == 0) {
    train(options, [](const EpisodeRecord&) {
      kill(getpid(), SIGKILL);
      return true;
    });
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "checkpoint.safetensors"));
  options.resume = true;
  EXPECT_EQ(train(options).num_episodes, 12);
}

TEST_F(TrainTest, WhereNoStepWasMadeThereIsNoLoss) {
  TrainOptions options = small_options();
  options.steps_per_episode = 0;
  options.folder = folder_;
  const TrainReport report = train(options, [](const EpisodeRecord& record) {
    EXPECT_FALSE(record.loss.has_value());
    return true;
  });
  EXPECT_EQ(report.num_steps, 0);
  const std::string csv = read_file(folder_ / "progress.csv");
  EXPECT_NE(csv.find("\n1,0,0,0,,"), std::string::npos) << csv;
  const std::string script = read_file(folder_ / "progress.gp");
  EXPECT_NE(script.find("\n1 NaN "), std::string::npos) << script.substr(0, 200);
  EXPECT_EQ(report.has_figure, std::system("gnuplot --version > /dev/null 2>&1") == 0);
}

TEST_F(TrainTest, WorkersAndLearnerRunAtTheSameTime) {
  TrainOptions options = small_options();
  options.is_deterministic = false;
  options.num_workers = 3;
  options.num_episodes = 30;
  options.folder = folder_;
  std::vector<std::uint64_t> problems;
  const TrainReport report = train(options, [&](const EpisodeRecord& record) {
    problems.push_back(record.problem);
    return true;
  });
  EXPECT_EQ(report.num_episodes, 30);
  EXPECT_GT(report.num_steps, 0);
  std::sort(problems.begin(), problems.end());
  EXPECT_EQ(std::unique(problems.begin(), problems.end()), problems.end());  // no problem twice
  const std::string csv = read_file(folder_ / "progress.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 31);
  EXPECT_NO_THROW(load_network(folder_ / "network.safetensors"));
  options.resume = true;
  options.num_episodes = 35;
  EXPECT_EQ(train(options).num_episodes, 35);
}

TEST_F(TrainTest, AnErrorOfAWorkerReachesTheCaller) {
  TrainOptions options = small_options();
  options.is_deterministic = false;
  options.episode.method = InferenceMethod::kSmc;
  options.episode.budget = 3;  // less than one particle of 8 variables
  EXPECT_THROW(train(options), Error);
}

TEST_F(TrainTest, TrainingLowersDeltaKl) {
  TrainOptions options = small_options();
  options.problems.values["n"] = 12;
  options.episode.num_samples = 64;
  options.learner.batch_size = 128;
  options.learner.adam.learning_rate = 2e-3;
  options.replay_capacity = 10'000;
  options.num_episodes = 120;
  options.steps_per_episode = 6;
  std::vector<double> relative;
  train(options, [&](const EpisodeRecord& record) {
    relative.push_back(*record.measured.delta_kl - *record.measured.delta_kl_plain);
    return true;
  });
  const auto mean = [](auto begin, auto end) {
    return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
  };
  const double before = mean(relative.begin(), relative.begin() + 20);
  const double after = mean(relative.end() - 40, relative.end());
  EXPECT_LT(after, before - 0.5) << before;
}

TEST_F(TrainTest, TestProblemsMayHaveAnotherSize) {
  TrainOptions options = small_options();
  options.test_n = 12;
  options.num_episodes = 3;
  options.assess_every = 2;
  std::vector<bool> measured;
  const TrainReport report = train(options, [&](const EpisodeRecord& record) {
    measured.push_back(record.measured.delta_kl.has_value());
    // Each of 12 variables has log Z above 8 log 2: a problem of 8 would not come so low.
    if (record.measured.delta_kl_plain) {
      EXPECT_LT(*record.measured.delta_kl_plain, -12.0);
    }
    return true;
  });
  EXPECT_EQ(report.num_episodes, 3);
  EXPECT_EQ(measured, (std::vector<bool>{true, false, true}));
}

TEST_F(TrainTest, LearnsOneModelFromAFile) {
  TrainOptions options = small_options();
  options.problems.model_text = "MARKOV 3  2 3 2  2  2 0 1  2 1 2  6 1 2 3 4 5 6  6 6 5 4 3 2 1";
  options.problems.model_format = ".uai";
  options.episode.budget = 8;
  for (const char* architecture : {"gnn", "mlp"}) {
    options.learner.architecture = architecture;
    EXPECT_TRUE(train(options).is_finished) << architecture;
  }
}

TEST(TrainOptions, TextGivesTheOptionsBack) {
  TrainOptions options;
  options.problems.reading = Reading::kLetter;
  options.problems.values = {{"n", 16}, {"scale", 1.5}};
  options.episode.method = InferenceMethod::kSmc;
  options.seed = UINT64_MAX;
  options.learner.adam.learning_rate = 0.1;
  const std::string text = format_train_options(options);
  const TrainOptions back = parse_train_options(text);
  EXPECT_EQ(format_train_options(back), text);
  EXPECT_EQ(back.seed, UINT64_MAX);
  EXPECT_EQ(back.episode.method, InferenceMethod::kSmc);
  EXPECT_THROW(parse_train_options("{}"), Error);
  EXPECT_THROW(parse_train_options("nonsense"), Error);
}

TEST(TrainOptions, YoungerFieldsAreWrittenWhereTheyMatter) {
  TrainOptions options;
  EXPECT_EQ(format_train_options(options).find("bellman_weight"), std::string::npos);
  options.learner.bellman_weight = 0.5;
  options.learner.global_after = 2;
  const TrainOptions back = parse_train_options(format_train_options(options));
  EXPECT_EQ(back.learner.bellman_weight, 0.5);
  EXPECT_EQ(back.learner.global_after, 2);
}

TEST(TrainOptions, ContradictionsAreRefused) {
  TrainOptions options;
  options.learner.architecture = "mlp";
  EXPECT_THROW(options.validate(), Error);  // many graphs
  options.problems.is_single_graph = true;
  EXPECT_NO_THROW(options.validate());
  options.test_n = 12;
  EXPECT_THROW(options.validate(), Error);
}

TEST(TrainOptionsText, DeepNestingIsRefused) {
  const std::string deep(100'000, '[');
  for (const std::string& text : {deep, "{\"family_values\": {\"n\": " + deep + "}}"}) {
    EXPECT_EQ(testing::message_of(ErrorCode::kParse, [&] { parse_train_options(text); }),
              "training options:1: lists and objects are nested deeper than the allowed 64 levels");
  }
}

}  // namespace
}  // namespace treesample
