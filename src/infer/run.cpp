#include "infer/run.hpp"

#include <ctime>

#include <algorithm>
#include <cmath>

#include "infer/policy.hpp"
#include "stopwatch.hpp"

namespace treesample {

TimeSource TimeSource::real() {
  const auto busy_seconds = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  return {[watch = Stopwatch()] { return watch.seconds(); }, busy_seconds};
}

Run::Run(double time_limit_seconds, const Observer& observer, TimeLimit kind, const TimeSource& time)
    : state_(std::make_shared<State>()) {
  state_->time = time;
  state_->started = time.seconds();
  state_->limit = time_limit_seconds;
  state_->kind = kind;
  state_->grace = policy::kGraceSeconds;
  state_->observer = observer;
}

Run Run::part(double time_limit_seconds, const Observer& observer) const {
  Run part(time_limit_seconds, observer, kind_of_limit(), state_->time);
  part.state_->started = state_->started;
  part.state_->paused = state_->paused.load();
  return part;
}

bool Run::State::is_interrupted() {
  if (interrupted_at >= 0.0) return true;
  if (!observer.should_stop || !observer.should_stop()) return false;
  double never = -1.0;
  interrupted_at.compare_exchange_strong(never, seconds());
  return true;
}

bool Run::State::is_overdue() {
  const double end = is_interrupted() ? std::min(limit.load(), interrupted_at.load()) : limit.load();
  return seconds() >= end + grace;
}

void Run::set_size(std::int64_t num_variables_and_factors) const {
  state_->grace = num_variables_and_factors > policy::kMostForGrace ? 0.0 : policy::kGraceSeconds;
}

void Run::finish() const {
  state_->observer = {};
  state_->interrupted_at = -1.0;
  state_->limit = HUGE_VAL;
}

bool Run::has_time_limit() const { return std::isfinite(state_->limit); }

double Run::seconds_left() const { return std::max(0.0, state_->limit - seconds()); }

double Run::extra_seconds() const {
  return std::min(seconds_left(), std::max(policy::kExtraSeconds, policy::kExtraShare * seconds()));
}

double Run::box_seconds(double share, double without_limit) const {
  if (!has_time_limit()) return without_limit;
  return std::min(share * (state_->limit - state_->phases_begin), policy::kMostOfTheRest * seconds_left());
}

ShouldStop Run::time_box(double share, double without_limit) const {
  return [state = state_, end = seconds() + box_seconds(share, without_limit)] {
    return state->seconds() > end || state->is_interrupted();
  };
}

ShouldStop Run::until(double share) const {
  return [state = state_, end = at(share)] { return state->seconds() > end || state->is_overdue(); };
}

ShouldStop Run::search_end() const {
  return [state = state_] { return state->seconds() > state->limit || state->is_interrupted(); };
}

ShouldStop Run::set_up_end() const { return until(policy::kSetUpEnd); }

void Run::tell(Progress now) const {
  // All phases bound the same number, so bounds certified by one hold in the next; where they contradict each other,
  // one of them is wrong, and neither is told.
  state_->told &= now.log_z.widened(state_->log_error);
  if (!is_watched()) return;
  if (*state_->phase != '\0') now.phase = state_->phase;
  tell_step(now);
}

void Run::tell_step(Progress now) const {
  now.seconds = seconds();
  now.log_z = state_->told;
  state_->observer.progress(now);
}

TellShare Run::phase(const char* name, double share, double without_limit) const {
  if (!is_watched()) return {};
  const double begin = seconds(), box = box_seconds(share, without_limit);
  const auto last = std::make_shared<double>(begin);
  return [run = *this, name, begin, box, last](double share_done) {
    const double now = run.seconds();
    if (now < *last + policy::kTellSeconds) return;
    *last = now;
    run.tell_step({.phase = name, .share_done = std::clamp(std::max(share_done, (now - begin) / box), 0.0, 1.0)});
  };
}

void Run::remark(const std::string& text) const {
  if (state_->observer.remark) state_->observer.remark(text);
}

}  // namespace treesample
