// One external program that reads lines on its standard input and writes lines on its standard output.
//
// It runs in a process group of its own, so that Ctrl-C at the terminal reaches only the parent and that the whole
// group can be ended together. No signal handler is installed. Three things ensure that nothing is left behind: the
// destructor (SIGTERM, then SIGKILL to the group), the parent-death signal (SIGKILL to the program if this process is
// killed), and the end of its standard input.
//
// The thread that uses it must block SIGPIPE, and must outlive the object: the parent-death signal is sent when the
// thread that started the program ends.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace treesample {

// A file descriptor that is closed by the destructor.
class Descriptor {
 public:
  explicit Descriptor(int descriptor = -1) : descriptor_(descriptor) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }
  void close();
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// Wakes all threads that wait for a program; it cannot be reset.
class StopSignal {
 public:
  StopSignal();
  void raise();
  [[nodiscard]] bool is_raised() const { return is_raised_; }
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }  // readable once raised

 private:
  Descriptor descriptor_;
  std::atomic<bool> is_raised_ = false;
};

struct ChildOptions {
  std::filesystem::path executable;
  std::vector<std::string> command;  // the arguments as the program receives them
  std::filesystem::path folder;      // where it runs
  std::filesystem::path log;         // its standard error is appended here; if empty, only the end of it is kept
};

// The path of `program`: relative to `folder` if it contains a slash, otherwise looked up in PATH. Empty if there is no
// executable file of that name.
std::filesystem::path find_executable(const std::string& program, const std::filesystem::path& folder);

class ChildProcess {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Outcome { kDone, kClosed, kTimeout, kTooLong, kStopped };
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 26;
  static constexpr std::chrono::milliseconds kGrace{1000};

  // Starts the program. Throws kIo.
  ChildProcess(const ChildOptions& options, const StopSignal& stop);
  ~ChildProcess() { terminate(); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  Outcome write_line(std::string line, Clock::time_point deadline);
  Outcome read_line(std::string& line, Clock::time_point deadline);
  // Reads everything until the program closes its output, at most kMaxLineBytes.
  Outcome read_all(std::string& text, Clock::time_point deadline);

  // Closes the program's input and lets it end by itself within kGrace; then does the same as terminate.
  void close();
  // Sends SIGTERM to the group; processes that still run after kGrace get SIGKILL.
  void terminate();
  // Call it only after the program has ended.
  [[nodiscard]] bool has_succeeded() const;
  // "exited with status 3" or "was ended by signal 11 (Segmentation fault)".
  [[nodiscard]] std::string ending() const;
  // The last line that it wrote to its standard error, if any.
  [[nodiscard]] std::string last_log_line() const;

 private:
  Outcome fill_buffer(Clock::time_point deadline);
  bool wait_for_exit(std::chrono::milliseconds time);
  Outcome wait_until_ready(int descriptor, short events, Clock::time_point deadline);
  void take_errors();

  const StopSignal* stop_;
  std::filesystem::path log_;
  std::uintmax_t log_start_ = 0;  // bytes of the log before this program
  pid_t pid_ = -1;                // -1 once it has been waited for
  int status_ = 0;
  Descriptor input_;   // its standard input: we write
  Descriptor output_;  // its standard output: we read
  Descriptor errors_;  // its standard error, if it has no log
  std::string buffer_;
  std::string last_errors_;  // the end of what arrived there
};

}  // namespace treesample
