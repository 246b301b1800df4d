#include "experiments/run_store.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "treesample/error.hpp"

namespace treesample::experiments {
namespace {

class RunStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("run_store_test_" + std::to_string(getpid()) + "_" +
                                                        testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    file_ = folder_ / "run.sqlite";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  ErrorCode code_of_opening(const Fingerprint& fingerprint, std::string& message) const {
    try {
      const RunStore store(file_, fingerprint);
    } catch (const Error& error) {
      message = error.what();
      return error.code();
    }
    ADD_FAILURE() << "nothing was thrown";
    return ErrorCode::kInternal;
  }

  std::filesystem::path folder_, file_;
  const Fingerprint fingerprint_{{"budget", "100"}, {"seed", "1"}};
};

TEST_F(RunStoreTest, KeepsEveryBitOfANumberAcrossOpenings) {
  const Numbers numbers{{"third", 1.0 / 3.0},
                        {"tiny", std::numeric_limits<double>::denorm_min()},
                        {"large", -1.7976931348623157e308},
                        {"whole", 123456789012345678.0},
                        {"up", HUGE_VAL},
                        {"down", -HUGE_VAL}};
  {
    RunStore store(file_, fingerprint_);
    store.add("a/0", numbers);
    store.add("a/1", {{"x", 2.0}});
  }
  const RunStore store(file_, fingerprint_);
  const auto all = store.finished();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all.at("a/0"), numbers);
  EXPECT_EQ(all.at("a/1").at("x"), 2.0);
}

TEST_F(RunStoreTest, RefusesAFileOfOtherOptionsAndNamesThem) {
  { RunStore(file_, fingerprint_).add("a", {{"x", 1.0}}); }
  std::string message;
  EXPECT_EQ(code_of_opening({{"budget", "200"}, {"seed", "1"}}, message), ErrorCode::kArgument);
  EXPECT_NE(message.find("budget ('100', now '200')"), std::string::npos) << message;
  EXPECT_NE(message.find(file_.string()), std::string::npos) << message;
  EXPECT_EQ(RunStore(file_, fingerprint_).finished().size(), 1u) << "the refused run must leave the file as it was";
}

TEST_F(RunStoreTest, RefusesARunThatHadAnOptionMore) {
  Fingerprint more = fingerprint_;
  more.emplace_back("readings", "best");
  { RunStore(file_, more).add("a", {{"x", 1.0}}); }
  std::string message;
  EXPECT_EQ(code_of_opening(fingerprint_, message), ErrorCode::kArgument);
  EXPECT_NE(message.find("readings ('best', now none)"), std::string::npos) << message;
}

TEST_F(RunStoreTest, RefusesASecondProcessAtTheSameTime) {
  const RunStore store(file_, fingerprint_);
  std::string message;
  EXPECT_EQ(code_of_opening(fingerprint_, message), ErrorCode::kIo);
  EXPECT_NE(message.find("another process"), std::string::npos) << message;
}

TEST_F(RunStoreTest, RefusesAFileThatIsNoDatabase) {
  std::ofstream(file_) << std::string(4096, 'x');
  std::string message;
  EXPECT_EQ(code_of_opening(fingerprint_, message), ErrorCode::kIo);
}

TEST_F(RunStoreTest, RefusesNaNAndAKeyThatIsThere) {
  RunStore store(file_, fingerprint_);
  EXPECT_THROW(store.add("nan", {{"good", 1.0}, {"x", std::nan("")}}), Error);
  store.add("a", {{"x", 1.0}});
  EXPECT_THROW(store.add("a", {{"x", 2.0}}), Error);
  store.add("b", {{"x", 3.0}});
  const auto all = store.finished();
  EXPECT_EQ(all.size(), 2u) << "a refused instance must leave nothing behind";
  EXPECT_EQ(all.at("a").at("x"), 1.0);
}

}  // namespace
}  // namespace treesample::experiments
