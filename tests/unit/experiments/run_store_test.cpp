#include "experiments/run_store.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "support/expect_error.hpp"
#include "treesample/error.hpp"

namespace treesample::experiments {
namespace {

class RunStoreTest : public testing::TemporaryFolder {
 protected:
  void SetUp() override {
    TemporaryFolder::SetUp();
    file_ = in_folder("run.sqlite");
  }

  [[nodiscard]] std::string refusal(ErrorCode code, const Fingerprint& fingerprint) const {
    return testing::message_of(code, [&] { RunStore(file_, fingerprint); });
  }

  std::filesystem::path file_;
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
  const std::string message = refusal(ErrorCode::kArgument, {{"budget", "200"}, {"seed", "1"}});
  EXPECT_NE(message.find("budget ('100', now '200')"), std::string::npos) << message;
  EXPECT_NE(message.find(file_.string()), std::string::npos) << message;
  EXPECT_EQ(RunStore(file_, fingerprint_).finished().size(), 1u) << "the refused run must leave the file as it was";
}

TEST_F(RunStoreTest, RefusesARunThatHadAnOptionMore) {
  Fingerprint more = fingerprint_;
  more.emplace_back("readings", "best");
  { RunStore(file_, more).add("a", {{"x", 1.0}}); }
  const std::string message = refusal(ErrorCode::kArgument, fingerprint_);
  EXPECT_NE(message.find("readings ('best', now none)"), std::string::npos) << message;
}

TEST_F(RunStoreTest, RefusesASecondProcessAtTheSameTime) {
  const RunStore store(file_, fingerprint_);
  const std::string message = refusal(ErrorCode::kIo, fingerprint_);
  EXPECT_NE(message.find("another process"), std::string::npos) << message;
}

TEST_F(RunStoreTest, RefusesAFileThatIsNoDatabase) {
  std::ofstream(file_) << std::string(4096, 'x');
  EXPECT_NE(refusal(ErrorCode::kIo, fingerprint_), "");
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
