#include "remote/message_seal.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "treesample/error.hpp"

namespace treesample {
namespace {

// What Python's hmac gives for the same text.
TEST(MessageSeal, IsHmacSha256OfKindRunAndPayload) {
  const std::string sealed = MessageSeal("Jefe", "run").seal("episode", "payload");
  ASSERT_EQ(sealed.size(), 7 + MessageSeal::kBytes);
  EXPECT_EQ(sealed.substr(0, 7), "payload");
  std::string digits;
  constexpr const char* kDigits = "0123456789abcdef";
  for (const char c : sealed.substr(7)) {
    digits += kDigits[static_cast<unsigned char>(c) >> 4U];
    digits += kDigits[static_cast<unsigned char>(c) & 15U];
  }
  EXPECT_EQ(digits, "147c84b4eaff435664dc7c32c70088c43291599e6757070985de416752dbe182");
}

TEST(MessageSeal, OpensOnlyWhatWasSealedForThisUse) {
  const MessageSeal seal("a secret", "run");
  const std::string sealed = seal.seal("episode", "payload");
  EXPECT_EQ(seal.open("episode", sealed), "payload");
  EXPECT_EQ(seal.open("episode", seal.seal("episode", "")), "");
  EXPECT_THROW(static_cast<void>(seal.open("options", sealed)), Error);
  EXPECT_THROW(static_cast<void>(MessageSeal("a secret", "other").open("episode", sealed)), Error);
  EXPECT_THROW(static_cast<void>(MessageSeal("another", "run").open("episode", sealed)), Error);
  EXPECT_THROW(static_cast<void>(MessageSeal("", "run").open("episode", sealed)), Error);
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string damaged = sealed;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_THROW(static_cast<void>(seal.open("episode", damaged)), Error) << i;
    EXPECT_THROW(static_cast<void>(seal.open("episode", std::string_view(sealed).substr(0, i))), Error) << i;
  }
}

class RunSecretTest : public ::testing::Test {
 protected:
  void SetUp() override {
    unsetenv("TREESAMPLE_KEY");
    path_ = std::filesystem::path(::testing::TempDir()) / ("treesample_key" + std::to_string(getpid()));
  }
  void TearDown() override {
    unsetenv("TREESAMPLE_KEY");
    std::filesystem::remove(path_);
  }
  void write_key(const std::string& text, mode_t mode) const {
    std::filesystem::remove(path_);
    std::ofstream(path_) << text;
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
  }
  std::filesystem::path path_;
};

TEST_F(RunSecretTest, FileThenVariableThenPassword) {
  EXPECT_EQ(run_secret({}, ""), "");
  EXPECT_EQ(run_secret({}, "open sesame"), "open sesame");
  setenv("TREESAMPLE_KEY", "sixteen bytes or more", 1);
  EXPECT_EQ(run_secret({}, "open sesame"), "sixteen bytes or more");
  write_key("0123456789abcdef\n", 0600);
  EXPECT_EQ(run_secret({.key_file = path_.string()}, "open sesame"), "0123456789abcdef");
}

TEST_F(RunSecretTest, KeysThatProtectNothingAreRefused) {
  for (const mode_t mode : {0640, 0604, 0666, 0620}) {
    write_key("0123456789abcdef\n", mode);
    EXPECT_THROW(run_secret({.key_file = path_.string()}, ""), Error) << mode;
  }
  write_key("0123456789abcdef\n", 0400);
  EXPECT_NO_THROW(run_secret({.key_file = path_.string()}, ""));
  for (const char* text : {"", "\n", "0123456789abcde\n"}) {
    write_key(text, 0600);
    EXPECT_THROW(run_secret({.key_file = path_.string()}, ""), Error) << text;
  }
  std::filesystem::remove(path_);
  EXPECT_THROW(run_secret({.key_file = path_.string()}, ""), Error);
  EXPECT_THROW(run_secret({.key_file = ::testing::TempDir()}, ""), Error);
  setenv("TREESAMPLE_KEY", "short", 1);
  EXPECT_THROW(run_secret({}, ""), Error);
}

}  // namespace
}  // namespace treesample
