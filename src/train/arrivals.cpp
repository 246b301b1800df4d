#include "train/arrivals.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace treesample {
namespace {

constexpr double kFirstNoticeSeconds = 5.0;
constexpr double kMostNoticeSeconds = 60.0;  // between two notices; the first ones come at doubling intervals
constexpr double kRefusalSeconds = 10.0;
constexpr std::size_t kMostNames = 1000;

}  // namespace

double Arrivals::seconds_without() const { return seconds_since(last_accepted_); }

void Arrivals::accept(const std::string& worker) {
  if (accepted_.size() < kMostNames) accepted_.insert(worker);
  last_accepted_ = Clock::now();
  next_notice_ = 0.0;
}

void Arrivals::refuse(const std::string& worker, const std::string& reason) {
  ++num_refused_;
  // Names come from other machines, so their number is limited.
  const bool has_room = refused_.size() < kMostNames || refused_.contains(worker);
  const std::int64_t of_worker = ++refused_[has_room ? worker : "other workers"];
  last_reason_ = fmt::format("{}: {}", worker, reason);
  const bool is_first = num_refused_ == 1;
  if (!remark_ || (!is_first && seconds_since(last_told_refusal_) < kRefusalSeconds)) return;
  last_told_refusal_ = Clock::now();
  remark_(fmt::format("episode refused ({} in all, {} of this sender): {}", num_refused_, of_worker, last_reason_));
}

void Arrivals::tell_when_waiting(const std::string& state) {
  const double waited = seconds_without();
  if (next_notice_ == 0.0) next_notice_ = kFirstNoticeSeconds;
  if (waited < next_notice_) return;
  next_notice_ = waited + std::min(waited, kMostNoticeSeconds);
  if (!remark_) return;
  std::string text = fmt::format("waiting for workers: no episode for {:.0f} s, {}; ", waited, state);
  text += accepted_.empty() ? "no worker was seen yet" : fmt::format("{} workers were seen", accepted_.size());
  if (num_refused_ > 0) text += fmt::format("; {} episodes were refused, the last: {}", num_refused_, last_reason_);
  remark_(text);
}

}  // namespace treesample
