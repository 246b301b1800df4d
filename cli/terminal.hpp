// What a person at a terminal sees and does while the program works: a line of progress, Ctrl-C.
#pragma once

#include <chrono>
#include <string>

namespace treesample::cli {

// From now on a signal that ends the program at once leaves a line on standard error. Called first of all.
void tell_interruptions();

// Within the lifetime of such an object the first Ctrl-C or SIGTERM asks for the answer so far, and the second ends the
// program at once; outside of it the first one does. What was asked for stays asked: all phases that follow are cut
// short too. Objects may live within each other.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  [[nodiscard]] static bool is_asked();
  // True when the request is more than kGraceSeconds old; this time is for making an answer from the results so far.
  static constexpr double kGraceSeconds = 0.2;
  [[nodiscard]] static bool is_overdue();
  // The exit code of the program: 128 + the number of the signal (130 after Ctrl-C, 143 after SIGTERM) after a request,
  // even if there is an answer; `code` otherwise. run_program() calls it for all commands.
  [[nodiscard]] static int exit_code(int code);
};

// One line on stderr, rewritten a few times a second. Where stderr is not a terminal but, for example, a log: separate
// lines, the first after some seconds and then ever more rarely, so that quick commands print nothing.
class Progress {
 public:
  explicit Progress(bool is_quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // A negative fraction means that it is not known.
  void show(double fraction, const std::string& text);
  void clear();
  // Whether show() would do anything now.
  [[nodiscard]] bool is_due() const;

 private:
  bool is_active_, is_terminal_;
  bool is_shown_ = false;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = begin_;
};

// A remark on stderr, unless quiet.
void note(bool is_quiet, const std::string& text);

}  // namespace treesample::cli
