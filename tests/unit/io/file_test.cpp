#include "treesample/io/file.hpp"

#include <sys/resource.h>

#include <csignal>
#include <string>

#include "support/expect_error.hpp"

namespace treesample {
namespace {

namespace fs = std::filesystem;
using testing::message_of;

class WholeFile : public testing::TemporaryFolder {};

TEST_F(WholeFile, ReturnsEveryByteThatWasWritten) {
  std::string contents(300'000, 'x');
  contents[0] = '\0';
  contents[299'999] = '\n';
  write_file_atomically(in_folder("bytes"), contents);
  EXPECT_EQ(read_file(in_folder("bytes")), contents);
  write_file_atomically(in_folder("empty"), "");
  EXPECT_EQ(read_file(in_folder("empty")), "");
}

TEST_F(WholeFile, WritingReplacesAndLeavesNothingElseBehind) {
  write_file_atomically(in_folder("file"), "a longer first version");
  write_file_atomically(in_folder("file"), "second");
  EXPECT_EQ(read_file(in_folder("file")), "second");
  EXPECT_EQ(num_files(), 1);
}

TEST_F(WholeFile, WritingFollowsALink) {
  write_file_atomically(in_folder("file"), "old");
  fs::create_symlink("file", in_folder("link"));
  write_file_atomically(in_folder("link"), "new");
  EXPECT_TRUE(fs::is_symlink(in_folder("link")));
  EXPECT_EQ(read_file(in_folder("file")), "new");
}

TEST_F(WholeFile, DevicesAreReadAndWrittenDirectly) {
  EXPECT_EQ(read_file("/dev/null"), "");
  write_file_atomically("/dev/null", "nothing");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_NE(message_of(ErrorCode::kResource, [] { read_file("/dev/zero", 100'000); }).find("100000 bytes"),
            std::string::npos);
}

TEST_F(WholeFile, TheLimitOfBytesIsInclusive) {
  write_file_atomically(in_folder("ten"), "0123456789");
  EXPECT_EQ(read_file(in_folder("ten"), 10), "0123456789");
  EXPECT_EQ(message_of(ErrorCode::kResource, [&] { read_file(in_folder("ten"), 9); }),
            in_folder("ten").string() + ": too large to be read, allowed are 9 bytes");
}

TEST_F(WholeFile, ErrorsNameTheFileAndTheReason) {
  const std::string missing = in_folder("missing").string();
  EXPECT_EQ(message_of(ErrorCode::kIo, [&] { read_file(missing); }),
            missing + ": cannot be read: No such file or directory");
  const std::string folder = in_folder("").string();
  EXPECT_EQ(message_of(ErrorCode::kIo, [&] { read_file(folder); }), folder + ": cannot be read: Is a directory");
  EXPECT_EQ(message_of(ErrorCode::kWrite, [&] { write_file_atomically(folder, "x"); }),
            folder + ": cannot be written: Is a directory");
  const std::string nowhere = in_folder("no/such/folder/file").string();
  EXPECT_EQ(message_of(ErrorCode::kWrite, [&] { write_file_atomically(nowhere, "x"); }),
            nowhere + ": cannot be written: No such file or directory");
  EXPECT_EQ(num_files(), 0);
}

TEST_F(WholeFile, WhatCannotBeWrittenIsKnownBefore) {
  const std::string folder = in_folder("").string();
  EXPECT_EQ(message_of(ErrorCode::kWrite, [&] { check_writable(folder); }),
            folder + ": cannot be written: Is a directory");
  const std::string nowhere = in_folder("no/such/folder/file").string();
  EXPECT_EQ(message_of(ErrorCode::kWrite, [&] { check_writable(nowhere); }),
            nowhere + ": cannot be written: No such file or directory");
  check_writable("/dev/null");
  check_writable(in_folder("new"));
  EXPECT_EQ(num_files(), 0);
  write_file_atomically(in_folder("old"), "kept");
  check_writable(in_folder("old"));
  EXPECT_EQ(read_file(in_folder("old")), "kept");
  EXPECT_EQ(num_files(), 1);
}

// As on a full disk: no file of this process may grow.
class NoRoom {
 public:
  NoRoom() {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit none = {.rlim_cur = 0, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &none);
  }
  ~NoRoom() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_DFL);
  }

 private:
  rlimit before_ = {};
};

TEST_F(WholeFile, WithoutRoomTheOldFileStaysWhole) {
  const std::string path = in_folder("old").string();
  write_file_atomically(path, "kept");
  std::string message, message_before;
  {
    const NoRoom no_room;
    message_before = message_of(ErrorCode::kWrite, [&] { check_writable(path); });
    message = message_of(ErrorCode::kWrite, [&] { write_file_atomically(path, "new"); });
  }
  EXPECT_EQ(message, path + ": cannot be written: File too large");
  EXPECT_EQ(message_before, message);
  EXPECT_EQ(read_file(path), "kept");
  EXPECT_EQ(num_files(), 1);
}

TEST_F(WholeFile, AFullDeviceIsAnError) {
  EXPECT_EQ(message_of(ErrorCode::kWrite, [] { write_file_atomically("/dev/full", "x"); }),
            "/dev/full: cannot be written: No space left on device");
}

TEST_F(WholeFile, WhatHasNoEndIsReadUpToAStatedLimit) {
  EXPECT_EQ(message_of(ErrorCode::kResource, [] { read_file("/dev/zero"); }),
            "/dev/zero: too large to be read, allowed are 67108864 bytes of what is no regular file");
  fs::create_symlink("/dev/zero", in_folder("link.uai"));
  EXPECT_NE(message_of(ErrorCode::kResource, [&] { read_file(in_folder("link.uai")); }).find("link.uai: too large"),
            std::string::npos);
}

}  // namespace
}  // namespace treesample
