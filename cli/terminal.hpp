// The program's side of a terminal while it works: a line of progress, and Ctrl-C.
#pragma once

#include <chrono>
#include <string>

namespace treesample::cli {

// From now on a signal that ends the program at once leaves a line on standard error. Call it first of all.
void tell_interruptions();

// While such an object exists, the first Ctrl-C or SIGTERM asks for the answer so far, and the second ends the program
// at once. While none exists, the first one does. A request stays in force: all phases that follow are cut short too.
// Objects may be nested.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  [[nodiscard]] static bool is_asked();
  // True if the request is more than kGraceSeconds old. That time is for making an answer from the results so far.
  static constexpr double kGraceSeconds = 0.2;
  [[nodiscard]] static bool is_overdue();
  // The exit code of the program. After a request it is 128 + the number of the signal (130 after Ctrl-C, 143 after
  // SIGTERM), even if there is an answer; otherwise it is `code`. run_program() calls it for all commands.
  [[nodiscard]] static int exit_code(int code);
};

// One line on stderr, rewritten a few times a second. If stderr is not a terminal but, for example, a log, it prints
// separate lines: the first after some seconds and then ever more rarely, so that quick commands print nothing.
class Progress {
 public:
  explicit Progress(bool is_quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // A negative fraction means that the fraction is not known.
  void show(double fraction, const std::string& text);
  void clear();
  // True if show() would do anything now.
  [[nodiscard]] bool is_due() const;

 private:
  bool is_active_, is_terminal_;
  bool is_shown_ = false;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = begin_;
};

// A length of time as people say it: 90 s, 5 min, 2.5 h.
std::string time_text(double seconds);
// A word that a shell reads as it stands.
std::string shell_quoted(const std::string& value);

// A remark on stderr, unless quiet.
void note(bool is_quiet, const std::string& text);

}  // namespace treesample::cli
