// Counting beside the phases of a search: whichever has the whole answer first ends the other.
//
// With several threads counting has one of its own. With one thread the two take turns, and both keep their state: when
// the search has worked as long as its share of the time so far allows, the count goes on for as long as it has
// counted, so that its slices double. Nobody knows beforehand which of them can solve a model; this way the one that
// can does not wait for long.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <thread>

#include "infer/counting.hpp"
#include "infer/phases.hpp"

namespace treesample {

class CountBeside {
 public:
  explicit CountBeside(const Task& task);
  ~CountBeside() { end(); }
  CountBeside(const CountBeside&) = delete;
  CountBeside& operator=(const CountBeside&) = delete;

  // Starts the thread, or counts the first slice.
  void begin();
  // What the phases of the search work on: with a part of the memory, and a clock that stands still while the count
  // has its turn.
  [[nodiscard]] const Task& task() const { return search_task_; }
  // What the count has certified, once it is over.
  [[nodiscard]] LogBounds bounds() const { return is_known_ || is_given_up_ ? bounds_ : LogBounds(); }
  [[nodiscard]] bool has_answer() const { return is_answered_; }
  // Ends the count. Returns true if it has the whole answer.
  bool end();
  // Adds what the count knows, after end().
  void join(Findings& found);

 private:
  void count_in_a_thread();
  void take_turn();
  void count_slice();
  void give_up();
  void finish(const Run& run, double share_of_extra);

  const Task task_;
  Plan plan_;  // of the search
  const bool has_thread_;
  const double seconds_left_;   // for both
  const double count_seconds_;  // of these, for the count
  const double searched_per_counted_;
  std::optional<Counter> counter_;  // none once it is given up
  Run searching_;
  const Task search_task_;
  const std::thread::id owner_ = std::this_thread::get_id();
  double counted_seconds_ = 0.0;
  bool is_counting_ = false, has_failed_ = false, is_given_up_ = false;
  std::atomic<bool> is_over_ = false, is_known_ = false, is_answered_ = false;
  Draft counted_;     // everything that the count knows, once it is solved
  LogBounds bounds_;  // of log Z, by counting
  std::thread counting_;
};

}  // namespace treesample
