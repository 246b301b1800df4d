// One run of `infer`: its clock, its observer, and when each phase has to end.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/space/limits.hpp"
#include "treesample/stop.hpp"

namespace treesample {

// The result of the work; nothing when it ended with this error.
template <ErrorCode kCode, typename Work>
auto unless(Work work) -> std::optional<decltype(work())> {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() != kCode) throw;
    return {};
  }
}
template <typename Work>
auto unless_given_up(Work work) {
  return unless<ErrorCode::kInterrupted>(std::move(work));
}
// Where the limits of memory do not allow it: what is known already is not lost by that.
template <typename Work>
auto unless_too_large(Work work) {
  return unless<ErrorCode::kResource>(std::move(work));
}

enum class TimeLimit {
  kGiven,    // by the request, which may have none
  kDefault,  // the request left it open
  kRefused,  // the request says that there is none
};

// Where the time comes from: a clock on the wall, or one that a test sets. Only differences of its seconds count.
struct TimeSource {
  std::function<double()> seconds;
  std::function<double()> busy_seconds;  // processor time of the thread that asks

  static TimeSource real();
};

// Copies share their state. The functions that it returns may outlive it.
class Run {
 public:
  Run(double time_limit_seconds, const Observer& observer, TimeLimit kind = TimeLimit::kGiven,
      const TimeSource& time = TimeSource::real());
  // A run of a part of the work, by the same clock. It began when this one did; the limit is counted from there.
  [[nodiscard]] Run part(double time_limit_seconds, const Observer& observer) const;

  [[nodiscard]] double seconds() const { return state_->seconds(); }
  [[nodiscard]] double time_limit() const { return state_->limit; }  // may be infinite
  [[nodiscard]] bool has_time_limit() const;
  [[nodiscard]] double seconds_left() const;
  [[nodiscard]] TimeLimit kind_of_limit() const { return state_->kind; }
  [[nodiscard]] const TimeSource& time() const { return state_->time; }
  // From the start.
  void set_time_limit(double seconds) const { state_->limit = seconds; }
  // For what else is asked once log Z is known: as long again as that took, and a second at least.
  [[nodiscard]] double extra_seconds() const;
  // The clock of this run stood still for so long, while another one had its turn.
  void pause(double seconds) const { state_->paused = state_->paused + seconds; }

  // Whether the caller has interrupted; and whether the time for making an answer, a moment after that or after the
  // time limit, is over.
  [[nodiscard]] bool is_interrupted() const { return state_->is_interrupted(); }
  [[nodiscard]] bool is_overdue() const { return state_->is_overdue(); }
  // The size of the model: every step of an answer takes time in proportion to it, and a large model has no grace.
  void set_size(std::int64_t num_variables_and_factors) const;

  // From now on, shares of the time are shares of what is left: something that was tried first has failed.
  void begin_phases() const { state_->phases_begin = seconds(); }
  // The time at which this share is over.
  [[nodiscard]] double at(double share) const { return state_->at(share); }

  // Seconds for one step: this share of the time limit, less near its end; the given number without a limit.
  [[nodiscard]] double box_seconds(double share, double without_limit) const;
  // True when these seconds, counted from now, are over, or after an interruption: for steps that can end early.
  [[nodiscard]] ShouldStop time_box(double share, double without_limit) const;
  // True when this share of the time limit is over, or a moment after an interruption: for steps that make the answer.
  [[nodiscard]] ShouldStop until(double share = 1.0) const;
  // True at the end of the time, and at once after an interruption: the moment is for what follows a search.
  [[nodiscard]] ShouldStop search_end() const;
  // For what has to be made before a method can begin. It is given up then, and first bounds are the answer.
  [[nodiscard]] ShouldStop set_up_end() const;

  // log Z of the reduced model differs from that of the original one by at most this (SimplifyReport).
  void set_log_error(double log_error) { state_->log_error = log_error; }
  [[nodiscard]] double log_error() const { return state_->log_error; }

  // The answer is made. What outlives it, such as a sampler, has no limit any more, and asks and tells nobody.
  void finish() const;

  // What is done from now on, by which tell() calls all progress.
  void enter(const char* phase) const { state_->phase = phase; }
  // Reports to the observer, with the time since the start and bounds for the original model. Throws Error (kNumeric)
  // where these contradict what was told before.
  void tell(Progress now) const;
  // The bounds that were told last, certified for the original model.
  [[nodiscard]] const LogBounds& told() const { return state_->told; }
  // Bounds that were told may be wrong, and are forgotten: values have shown to be less precise than they seemed.
  void take_back() const { state_->told = {}; }
  // For a step in a time_box() that knows its progress: reports the share that is done, by that or by the clock, now
  // and then. Quick steps report nothing.
  [[nodiscard]] TellShare phase(const char* name, double share, double without_limit) const;
  // Whether anybody receives these reports.
  [[nodiscard]] bool is_watched() const { return static_cast<bool>(state_->observer.progress); }
  void remark(const std::string& text) const;

 private:
  void tell_step(Progress now) const;

  struct State {
    [[nodiscard]] bool is_interrupted();
    [[nodiscard]] bool is_overdue();
    [[nodiscard]] double at(double share) const { return phases_begin + share * (limit - phases_begin); }

    [[nodiscard]] double seconds() const { return time.seconds() - started - paused; }

    TimeSource time;
    double started = 0.0;
    TimeLimit kind = TimeLimit::kGiven;
    double log_error = 0.0;
    std::atomic<double> limit = 0.0, paused = 0.0, phases_begin = 0.0, grace = 0.0;
    Observer observer;
    const char* phase = "";
    LogBounds told;
    std::atomic<double> interrupted_at = -1.0;
  };
  std::shared_ptr<State> state_;
};

// The time of one phase: until a share of the time that its method has.
struct PhaseClock {
  Run run;
  double share = 1.0;

  [[nodiscard]] double end() const { return run.at(share); }  // in seconds of the run; it moves with the run's limit
  [[nodiscard]] double seconds_left() const { return end() - run.seconds(); }
  // True at the end, or a moment after an interruption.
  [[nodiscard]] ShouldStop should_stop() const { return run.until(share); }
};

}  // namespace treesample
