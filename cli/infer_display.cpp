#include "infer_display.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "treesample/math/log_domain.hpp"

namespace treesample::cli {
namespace {

const auto start = std::chrono::steady_clock::now();

}  // namespace

double process_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); }

InferDisplay::InferDisplay(InferRequest request, bool is_quiet, const std::string& trace)
    : request_(std::move(request)), is_quiet_(is_quiet), progress_(is_quiet), trace_(trace) {}

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
  if (now.estimate) trace_.add(now.seconds, now.spent, now.log_z, *now.estimate);  // of a search
  if (!progress_.is_due()) return;
  const Limits& limits = request_.limits;
  const std::int64_t calls = now.spent.calls;
  const auto used = static_cast<double>(calls > 0 ? calls : now.spent.reward_evaluations);
  const auto budget = static_cast<double>(calls > 0 ? std::min(limits.calls, limits.budget) : limits.budget);
  std::string text = now.phase;
  if (used > 0.0) {
    text += fmt::format(": {:.3g} {}, {:.2g}/s", used, calls > 0 ? "calls" : "evaluations",
                        used / std::max(now.seconds, 1e-9));
  }
  if (now.num_nodes > 0) text += fmt::format(", {} nodes", now.num_nodes);
  if (now.num_samples > 0) text += fmt::format(", {} samples", now.num_samples);
  const bool has_bounds = std::isfinite(now.log_z.lower) || std::isfinite(now.log_z.upper);
  if (has_bounds) text += fmt::format(", log Z in [{:.4f}, {:.4f}]", now.log_z.lower, now.log_z.upper);
  if (!has_bounds && now.estimate) text += fmt::format(", log Z about {:.4f}", *now.estimate);
  progress_.show(std::max({used / budget, now.seconds / limits.seconds, now.share_done.value_or(0.0)}), text);
}

void InferDisplay::finish(const Answer& answer) {
  progress_.clear();
  if (answer.plan.method != Method::kTreeSample) return;
  trace_.finish(answer.seconds, answer.spent, {answer.lower.value_or(kNegInf), answer.upper.value_or(HUGE_VAL)},
                answer.log_z.value_or(kNegInf));
}

}  // namespace treesample::cli
