// What a person at a terminal sees and does while the program works: a line of progress, Ctrl-C.
#pragma once

#include <chrono>
#include <string>

namespace treesample::cli {

// Ctrl-C and SIGTERM ask for the answer so far; a second Ctrl-C ends the program at once. Installed
// for the lifetime of the object.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  [[nodiscard]] static bool is_asked();
};

// One line on stderr, rewritten a few times a second. Silent unless stderr is a terminal.
class Progress {
 public:
  explicit Progress(bool is_quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // Fraction below 0 when it is not known.
  void show(double fraction, const std::string& text);
  void clear();
  [[nodiscard]] bool is_active() const { return is_active_; }

 private:
  bool is_active_;
  bool is_shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

// A remark on stderr, unless quiet.
void note(bool is_quiet, const std::string& text);

}  // namespace treesample::cli
