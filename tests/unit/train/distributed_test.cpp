#include "treesample/train/distributed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "remote/redis_client.hpp"
#include "support/expect_error.hpp"
#include "support/redis_server.hpp"
#include "support/small_training.hpp"
#include "treesample/error.hpp"
#include "treesample/nn/network_file.hpp"

namespace treesample {
namespace {

using testing::ChildProcess;
using testing::RedisServer;

TEST(RedisAddress, AllForms) {
  const RedisAddress full = parse_redis_address("redis://me:a%40b%3a@example.org:1234");
  EXPECT_EQ(full.host, "example.org");
  EXPECT_EQ(full.port, 1234);
  EXPECT_EQ(full.user, "me");
  EXPECT_EQ(full.password, "a@b:");
  EXPECT_FALSE(full.is_tls);
  EXPECT_EQ(parse_redis_address("redis://:secret@h").password, "secret");
  EXPECT_EQ(parse_redis_address("redis://:secret@h").user, "");
  EXPECT_TRUE(parse_redis_address("rediss://h").is_tls);
  EXPECT_EQ(parse_redis_address("localhost").port, 6379);
  EXPECT_EQ(parse_redis_address("localhost:7000").port, 7000);
  EXPECT_EQ(parse_redis_address("redis://[::1]:7000").host, "::1");
  EXPECT_EQ(parse_redis_address("redis://[::1]:7000").port, 7000);
  EXPECT_TRUE(parse_redis_address("unix:/tmp/a.sock").is_unix);
  EXPECT_EQ(parse_redis_address("unix:///tmp/a.sock").host, "/tmp/a.sock");
}

TEST(RedisAddress, ErrorsNeverShowThePassword) {
  for (const char* address : {"http://u:secret@h", "redis://u:secret@", "redis://u:secret@h:0", "redis://u:secret@h:x",
                              "redis://u:secret%4@h", "unix:", "", "redis://u:secret@h:70000"}) {
    const std::string message = testing::message_of(ErrorCode::kArgument, [&] { parse_redis_address(address); });
    EXPECT_EQ(message.find("secret"), std::string::npos) << message;
  }
}

TEST(RedisOptions, TlsIsRefusedWhereHiredisHasNone) {
  if (has_redis_tls()) GTEST_SKIP() << "this hiredis has TLS";
  EXPECT_THROW(RedisOptions{.address = "rediss://h"}.validate(), Error);
}

class DistributedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RedisServer::is_installed()) GTEST_SKIP() << "redis-server is not installed";
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    // In memory where possible: a checkpoint per episode on a disk that is busy with a build takes minutes.
    const std::filesystem::path memory = "/dev/shm";
    const std::filesystem::path base =
        std::filesystem::is_directory(memory) ? memory : std::filesystem::path(::testing::TempDir());
    folder_ = base / ("ts_redis_" + name + std::to_string(getpid()));
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] TrainOptions train_options(int num_episodes) const {
    TrainOptions options = testing::small_training(num_episodes);
    options.folder = folder_ / "run";
    options.resume = true;
    return options;
  }
  [[nodiscard]] RedisOptions redis_options(const RedisServer& server) const {
    return {.address = server.address(), .run = "test", .patience_seconds = 120.0};
  }
  // The exit code says whether the run ended with all its episodes; rejected entries are added to it.
  static ChildProcess learner(const TrainOptions& options, const RedisOptions& redis) {
    return ChildProcess::run([&] {
      const TrainReport report = train_distributed(options, redis);
      return report.is_finished ? static_cast<int>(report.num_rejected) : 50;
    });
  }
  static ChildProcess worker(const RedisOptions& redis) {
    return ChildProcess::run([&] { return run_worker(redis).is_run_finished ? 0 : 50; });
  }
  [[nodiscard]] std::vector<std::string> csv_rows() const {
    std::ifstream file(folder_ / "run" / "progress.csv");
    std::vector<std::string> rows;
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) rows.push_back(line);
    return rows;
  }
  [[nodiscard]] bool wait_for_rows(std::size_t count) const {
    for (int i = 0; i < 12'000; ++i) {  // two minutes: checkpoints wait for a busy disk
      if (csv_rows().size() >= count) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  // Every row counts one episode, each on its own problem, with values.
  void check_rows(std::size_t expected) const {
    const std::vector<std::string> rows = csv_rows();
    ASSERT_EQ(rows.size(), expected);
    std::set<std::string> problems;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].substr(0, rows[i].find(',')), std::to_string(i + 1));
      EXPECT_EQ(std::count(rows[i].begin(), rows[i].end(), ','), 11);
      const std::size_t begin = rows[i].find(',') + 1;
      problems.insert(rows[i].substr(begin, rows[i].find(',', begin) - begin));
    }
    EXPECT_EQ(problems.size(), expected);
  }

  std::filesystem::path folder_;
};

TEST_F(DistributedTest, SurvivesKilledAndLateWorkersAndARestartedServer) {
  RedisServer server(folder_ / "server");
  const RedisOptions redis = redis_options(server);
  ChildProcess first = worker(redis);  // before there is a run
  ChildProcess second = worker(redis);
  ChildProcess leader = learner(train_options(400), redis);
  ASSERT_TRUE(wait_for_rows(20));
  first.kill_now();
  ASSERT_TRUE(wait_for_rows(40));
  ChildProcess late = worker(redis);
  second.kill_now();
  const std::size_t before = csv_rows().size();
  server.stop();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  server.restart();  // empty
  ASSERT_TRUE(wait_for_rows(std::min<std::size_t>(400, before + 60)));
  // A number that was drawn before the restart can be drawn again after it: a repetition is rejected.
  const int num_rejected = leader.wait();
  EXPECT_GE(num_rejected, 0);
  EXPECT_LE(num_rejected, 3);
  EXPECT_EQ(late.wait(), 0);
  check_rows(400);
  EXPECT_NO_THROW(load_network(folder_ / "run" / "network.safetensors"));
}

TEST_F(DistributedTest, AKilledLearnerGoesOnWhereItWas) {
  RedisServer server(folder_ / "server");
  const RedisOptions redis = redis_options(server);
  ChildProcess leader = learner(train_options(120), redis);
  ChildProcess helper = worker(redis);
  ASSERT_TRUE(wait_for_rows(30));
  leader.kill_now();
  leader = learner(train_options(120), redis);
  EXPECT_EQ(leader.wait(), 0);
  EXPECT_EQ(helper.wait(), 0);
  check_rows(120);
}

TEST_F(DistributedTest, DamagedAndForeignEntriesAreRejected) {
  RedisServer server(folder_ / "server");
  const RedisOptions redis = redis_options(server);
  ChildProcess leader = learner(train_options(40), redis);
  RedisClient client(redis, {});
  while (client.command({"GET", "treesample:test:head"}).is_nil()) client.pause(0.01);
  client.command({"XADD", "treesample:test:episodes", "*", "episode", "nonsense"});
  client.command({"XADD", "treesample:test:episodes", "*", "a", "b", "c", "d"});
  ChildProcess helper = worker(redis);
  EXPECT_EQ(leader.wait(), 2);  // rejected
  EXPECT_EQ(helper.wait(), 0);
  check_rows(40);
  EXPECT_LE(client.command({"XLEN", "treesample:test:episodes"}).integer, 2 * kMaxStreamEntries);
  EXPECT_GT(client.command({"TTL", "treesample:test:parameters"}).integer, 0);
}

TEST_F(DistributedTest, LogsInWithAPassword) {
  RedisServer server(folder_ / "server", {"--requirepass", "open sesame"});
  RedisOptions redis = redis_options(server);
  const auto ping = [&] { return RedisClient(redis, {}).command({"PING"}).text; };
  EXPECT_THROW(ping(), Error);
  std::ofstream(folder_ / "password") << "open sesame\n";
  redis.password_file = folder_ / "password";
  EXPECT_EQ(ping(), "PONG");
  std::ofstream(folder_ / "password") << "sesame\n";
  const std::string message = testing::message_of(ErrorCode::kIo, ping);
  EXPECT_EQ(message.find("sesame"), std::string::npos) << message;
}

TEST_F(DistributedTest, PatienceEndsWithoutAServerAndWithoutALearner) {
  RedisOptions redis = {.address = "unix:" + (folder_ / "nobody").string(), .patience_seconds = 0.2};
  EXPECT_THROW(run_worker(redis), Error);
  EXPECT_THROW(train_distributed(train_options(1), redis), Error);
  RedisServer server(folder_ / "server");
  redis.address = server.address();
  EXPECT_THROW(run_worker(redis), Error);
  redis.patience_seconds = 60.0;
  int asked = 0;
  EXPECT_FALSE(run_worker(redis, {.keep_going = [&] { return ++asked < 3; }}).is_run_finished);
}

}  // namespace
}  // namespace treesample
