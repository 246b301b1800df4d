#include "terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <ctime>
#include <string_view>

#include "standard_streams.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

constexpr int kSignalExit = 128;  // shells add to it the number of the signal that ended a program

volatile std::sig_atomic_t asked_by = 0;  // the number of the first signal
timespec asked_at{};                      // valid once asked_by is set
int num_interruptions = 0;                // number of existing objects

void on_signal(int signal) {
  if (asked_by != 0) _exit(kSignalExit + signal);  // the second signal ends the program at once
  clock_gettime(CLOCK_MONOTONIC, &asked_at);
  asked_by = signal;
}

// If there is nothing to answer yet, or no longer, says so and lets the signal end the program, so that shells can see
// it.
void on_signal_outside(int signal) {
  constexpr std::string_view kLine = "treesample: interrupted\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kLine.data(), kLine.size());
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

void tell_interruptions() {
  for (const int number : {SIGINT, SIGTERM}) {
    if (std::signal(number, on_signal_outside) == SIG_IGN) std::signal(number, SIG_IGN);  // nohup has set this: keep it
  }
}

Interruption::Interruption() {
  if (num_interruptions++ > 0) return;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

Interruption::~Interruption() {
  if (--num_interruptions > 0) return;
  flush_early();  // otherwise a signal could cut off an answer that is complete
  std::signal(SIGINT, on_signal_outside);
  std::signal(SIGTERM, on_signal_outside);
}

bool Interruption::is_asked() { return asked_by != 0; }

bool Interruption::is_overdue() {
  if (asked_by == 0) return false;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec - asked_at.tv_sec) +
             1e-9 * static_cast<double>(now.tv_nsec - asked_at.tv_nsec) >
         kGraceSeconds;
}

int Interruption::exit_code(int code) { return asked_by != 0 ? kSignalExit + asked_by : code; }

Progress::Progress(bool is_quiet) : is_active_(!is_quiet), is_terminal_(isatty(STDERR_FILENO) != 0) {}

bool Progress::is_due() const {
  using std::chrono::seconds;
  constexpr auto kBetween = std::chrono::milliseconds(100);
  if (!is_active_) return false;
  const auto now = std::chrono::steady_clock::now();
  if (is_terminal_) return !is_shown_ || now - last_ >= kBetween;
  // Lines come after 5, 10, 20, 40 and 80 seconds, and then every minute.
  constexpr seconds kFirst(5), kMost(60);
  return now - last_ >= std::clamp<std::chrono::steady_clock::duration>(last_ - begin_, kFirst, kMost);
}

void Progress::show(double fraction, const std::string& text) {
  if (!is_due()) return;
  last_ = std::chrono::steady_clock::now();
  if (!is_terminal_)
    return note(false, fraction < 0.0 ? text : fmt::format("{:.0f} %: {}", 100.0 * std::min(fraction, 1.0), text));
  is_shown_ = true;
  std::string line;
  if (fraction >= 0.0) {
    constexpr int kBarWidth = 24;
    const int filled = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * kBarWidth);
    line =
        fmt::format("[{:#<{}}{: <{}}] {:3.0f}%  ", "", filled, "", kBarWidth - filled, 100.0 * std::min(fraction, 1.0));
  }
  line += printable(text);
  line.resize(std::min(line.size(), terminal_width() - 1));
  say(fmt::format("\r{}\033[K", line));
}

void Progress::clear() {
  if (!is_shown_) return;
  say("\r\033[K");
  is_shown_ = false;
}

void note(bool is_quiet, const std::string& text) {
  if (!is_quiet) say(printable(text) + "\n");
}

std::string time_text(double seconds) {
  if (seconds < 120.0) return fmt::format("{:.0f} s", std::ceil(seconds));
  return seconds < 7200.0 ? fmt::format("{:.0f} min", seconds / 60.0) : fmt::format("{:.1f} h", seconds / 3600.0);
}

std::string shell_quoted(const std::string& value) {
  std::string quoted = "'";
  for (const char c : value) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace treesample::cli
