// The clock of a run, its time limit and its observer.
#pragma once

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
  // `reserve`: seconds that are needed after the run.
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

}  // namespace treesample
