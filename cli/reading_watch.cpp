#include "reading_watch.hpp"

#include <fmt/format.h>
#include <sysexits.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>

#include "infer_display.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

constexpr std::uintmax_t kShort = std::uintmax_t{1} << 19;  // bytes, which are read in hundredths of a second
constexpr std::chrono::milliseconds kLook(10);
// A model that is read a moment too late still gets first bounds as an answer.
constexpr double kGraceShare = 1.05, kGraceSeconds = 0.15;

}  // namespace

ReadingWatch::ReadingWatch(const std::vector<std::string>& files, double seconds, const std::string& done,
                           bool is_short) {
  const bool are_short = std::all_of(files.begin(), files.end(), [](const std::string& file) {
    std::error_code is_no_file;
    const std::uintmax_t size = file.empty() ? 0 : std::filesystem::file_size(file, is_no_file);
    return !is_no_file && size < kShort;
  });
  if (!std::isfinite(seconds) || seconds <= 0.0 || (is_short && are_short)) return;
  const std::string text =
      fmt::format("treesample: {}: it could not be {} within {:g} s (--time)\n", printable(files[0]), done, seconds);
  thread_ = std::thread([this, seconds, text] {
    std::unique_lock lock(mutex_);
    while (!is_read_.wait_for(lock, kLook, [this] { return is_over_; })) {
      if (process_seconds() < kGraceShare * seconds + kGraceSeconds) continue;
      [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
      ::_exit(EX_UNAVAILABLE);
    }
  });
}

ReadingWatch::~ReadingWatch() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  is_read_.notify_one();
  if (thread_.joinable()) thread_.join();
}

}  // namespace treesample::cli
