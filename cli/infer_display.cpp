#include "infer_display.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

const auto start = std::chrono::steady_clock::now();

}  // namespace

double process_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); }

InferDisplay::InferDisplay(InferRequest request, bool is_quiet, const std::string& trace, bool keeps_trace)
    : request_(std::move(request)),
      is_quiet_(is_quiet),
      keeps_trace_(keeps_trace),
      progress_(is_quiet),
      trace_(trace) {}

// Keeps at most some thousand points, denser at the beginning. Bounds are the best so far.
void InferDisplay::keep(TracePoint point, bool is_last) {
  if (!keeps_trace_) return;
  if (!kept_.empty()) {
    const TracePoint& before = kept_.back();
    if (!is_last && point.seconds < before.seconds * 1.01 + 1e-3) return;
    point.log_z = best_of(before.log_z, point.log_z);
  }
  const bool says_something = std::isfinite(point.log_z.lower) || std::isfinite(point.log_z.upper) ||
                              (point.estimate && std::isfinite(*point.estimate));
  if (says_something) kept_.push_back(point);
}

Observer InferDisplay::observer() {
  return {.progress = [this](const treesample::Progress& now) { show(now); },
          .should_stop = [] { return Interruption::is_asked(); },
          .remark =
              [this](const std::string& text) {
                progress_.clear();
                note(is_quiet_, text);
              }};
}

void InferDisplay::show(const treesample::Progress& now) {
  // The trace covers a search and the phases before and after it. Only some methods have one.
  const Method method = request_.options.method.value_or(Method::kSearch);
  const bool is_traced = (is_a_search(method) || method == Method::kMonotone) &&
                         request_.options.compile != true;  // --compile counts models instead of searching
  const bool has_both = std::isfinite(now.log_z.lower) && std::isfinite(now.log_z.upper);
  if (is_traced && (now.estimate || has_both)) {
    trace_.add(now.seconds, now.spent, now.log_z, now.estimate.value_or(kNegInf));
  }
  keep({now.seconds, now.spent.reward_evaluations, now.log_z, now.estimate}, false);
  if (phase_ != now.phase) {
    phase_ = now.phase;
    phase_begin_ = now.seconds;
  }
  if (!progress_.is_due()) return;
  const Limits& limits = request_.limits;
  const std::int64_t calls = now.spent.calls;
  const auto used = static_cast<double>(calls > 0 ? calls : now.spent.reward_evaluations);
  const auto budget = static_cast<double>(calls > 0 ? std::min(limits.calls, limits.budget) : limits.budget);
  std::string text = now.phase;
  const double done = now.share_done.value_or(0.0);
  if (now.share_done) text += fmt::format(" {:.0f} %", 100.0 * done);
  if (done > 0.01 && done < 1.0) {
    text += fmt::format(", {} left", time_text((now.seconds - phase_begin_) * (1.0 - done) / done));
  }
  if (used > 0.0) {
    text += fmt::format(": {:.3g} {}, {:.2g}/s", used,
                        calls == 1  ? "call"
                        : calls > 0 ? "calls"
                                    : "evaluations",
                        used / std::max(now.seconds, 1e-9));
  }
  if (now.num_nodes > 0) text += fmt::format(", {} nodes", now.num_nodes);
  if (now.num_samples > 0) text += fmt::format(", {} samples", now.num_samples);
  const bool has_bounds = std::isfinite(now.log_z.lower) || std::isfinite(now.log_z.upper);
  if (has_bounds) {
    text +=
        fmt::format(", log Z in [{}, {}]", decimal_bound(now.log_z.lower, -1.0), decimal_bound(now.log_z.upper, 1.0));
  }
  if (!has_bounds && now.estimate && std::isfinite(*now.estimate))
    text += fmt::format(", log Z about {:.4f}", *now.estimate);
  if (now.best) text += fmt::format(", best {:.4f}", *now.best);
  // The share of the limits that was used. An exact answer comes earlier.
  const double share = std::max(used / budget, now.seconds / limits.seconds);
  if (share > 0.01 && share < 1.0) {
    text += fmt::format(", {} {}", time_text(now.seconds * (1.0 - share) / share),
                        now.share_done ? "in all at most" : "left");
  }
  progress_.show(share > 0.0 ? share : done, text);
}

void InferDisplay::finish(const Answer& answer) {
  progress_.clear();
  keep({answer.seconds,
        answer.spent.reward_evaluations,
        {answer.lower.value_or(kNegInf), answer.upper.value_or(HUGE_VAL)},
        answer.log_z},
       true);
  if (!is_a_search(answer.plan.method) && answer.plan.method != Method::kMonotone) return;
  trace_.finish(answer.seconds, answer.spent, {answer.lower.value_or(kNegInf), answer.upper.value_or(HUGE_VAL)},
                answer.log_z.value_or(kNegInf));
}

}  // namespace treesample::cli
