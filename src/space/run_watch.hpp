// The clock of a run, its time limit and its observer, and a schedule for consulting them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "stopwatch.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

class RunWatch {
 public:
  RunWatch(const Limits& limits, Observer observer) : limit_(limits.seconds), observer_(std::move(observer)) {}

  [[nodiscard]] double seconds() const { return clock_.seconds(); }
  [[nodiscard]] bool is_asked_to_stop() const { return observer_.should_stop && observer_.should_stop(); }
  // `reserve`: seconds that must be left over after the run.
  [[nodiscard]] bool is_time_over(double reserve = 0.0) const { return seconds() + reserve > limit_; }
  [[nodiscard]] std::optional<StopReason> reason_to_stop() const {
    if (is_asked_to_stop()) return StopReason::kInterrupted;
    if (is_time_over()) return StopReason::kTime;
    return {};
  }
  [[nodiscard]] bool is_told() const { return static_cast<bool>(observer_.progress); }
  void tell(Progress now) const {
    if (!is_told()) return;
    now.seconds = seconds();
    observer_.progress(now);
  }

 private:
  Stopwatch clock_;
  double limit_;
  Observer observer_;
};

// How often a run of many steps looks at its clock: after each step at first, and less often if steps are quick.
// Nothing is known beforehand about the time that a leaf value takes.
class LookSchedule {
 public:
  explicit LookSchedule(int most_between_looks) : most_(most_between_looks) {}

  // Counts a step. Returns true if it is time to look at the clock; the caller then looks and calls looked().
  bool is_due() { return ++num_steps_ >= next_; }
  void looked(double seconds) {
    const double since = seconds - seconds_;
    if (since < kQuick) between_ = std::min(2 * between_, most_);
    if (since > kSlow) between_ = std::max(between_ / 2, 1);
    seconds_ = seconds;
    next_ = num_steps_ + between_;
  }
  // The time of the last look.
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  static constexpr double kQuick = 0.5e-3, kSlow = 4e-3;  // seconds between two looks

  int most_, between_ = 1;
  std::int64_t num_steps_ = 0, next_ = 1;
  double seconds_ = 0.0;
};

}  // namespace treesample
