#include "standard_streams.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

#include "treesample/error.hpp"

namespace treesample::cli {
namespace {

[[noreturn]] void fail_output(int error) {
  throw Error(ErrorCode::kWrite,
              fmt::format("standard output: cannot be written: {}", std::generic_category().message(error)));
}

bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) >= 0; }

}  // namespace

void open_standard_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  // open() returns the lowest free descriptor. Standard output stays closed, so that check_output notices it.
  if (!is_open(STDIN_FILENO)) ::open("/dev/null", O_RDONLY);
  if (is_open(STDERR_FILENO)) return;
  const int descriptor = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (descriptor >= 0 && descriptor != STDERR_FILENO) {
    ::dup2(descriptor, STDERR_FILENO);
    ::close(descriptor);
  }
}

void check_output() {
  const int mode = ::fcntl(STDOUT_FILENO, F_GETFL);
  if (mode < 0) throw Error(ErrorCode::kWrite, "standard output: cannot be written: it is closed");
  if ((mode & O_ACCMODE) == O_RDONLY) fail_output(EBADF);
  struct stat status = {};
  struct statvfs disk = {};
  if (::fstat(STDOUT_FILENO, &status) != 0 || !S_ISREG(status.st_mode)) return;
  if (::fstatvfs(STDOUT_FILENO, &disk) != 0 || disk.f_blocks == 0) return;
  const auto free_blocks = ::geteuid() == 0 ? disk.f_bfree : disk.f_bavail;
  if (free_blocks == 0) fail_output(ENOSPC);
}

namespace {

int flush_error = 0;  // the first one

}  // namespace

void flush_early() {
  errno = 0;
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!is_written && flush_error == 0) flush_error = errno == 0 ? EIO : errno;
}

void flush_output() {
  flush_early();
  if (flush_error != 0) fail_output(flush_error);
  // Some file systems report a full disk only when a file is closed.
  const int copy = ::dup(STDOUT_FILENO);
  if (copy >= 0 && ::close(copy) != 0) fail_output(errno);
}

void say(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace treesample::cli
