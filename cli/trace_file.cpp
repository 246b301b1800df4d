#include "trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "treesample/error.hpp"

namespace treesample::cli {

LogBounds best_of(const LogBounds& earlier, const LogBounds& later) {
  const LogBounds best{std::max(earlier.lower, later.lower), std::min(earlier.upper, later.upper)};
  return best.lower <= best.upper ? best : later;
}

void TraceFile::add(double seconds, const Spending& spent, const LogBounds& bounds, double estimate) {
  best_ = best_of(best_, bounds);
  evaluations_ = std::max(evaluations_, spent.reward_evaluations);  // later phases may report none
  const auto evaluations = static_cast<double>(evaluations_);
  const double gap = best_.upper - best_.lower;
  const bool is_news = gap < kNews * last_gap_;
  if (path_.empty() || failure_ || (seconds < next_seconds_ && evaluations < next_evaluations_ && !is_news)) return;
  last_gap_ = gap;
  if (!file_) {
    file_.reset(std::fopen(path_.c_str(), "w"));
    write("seconds,evaluations,lower,upper,estimate\n");
  }
  next_seconds_ = seconds * 1.01 + 1e-2;
  next_evaluations_ = evaluations * 1.02 + 1.0;
  write(fmt::format("{:.6f},{},{},{},{}\n", seconds, evaluations_, best_.lower, best_.upper, best_.clamp(estimate)));
}

void TraceFile::finish(double seconds, const Spending& spent, const LogBounds& bounds, double estimate) {
  if (path_.empty()) return;
  next_seconds_ = 0.0;
  add(seconds, spent, bounds, estimate);
  if (!failure_ && std::fclose(file_.release()) != 0) keep_failure();
  if (failure_) throw Error(*failure_);
}

void TraceFile::write(const std::string& text) {
  if (!file_ || std::fputs(text.c_str(), file_.get()) < 0 || std::fflush(file_.get()) != 0) keep_failure();
}

void TraceFile::keep_failure() {
  if (failure_) return;
  failure_.emplace(ErrorCode::kWrite, fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
}

}  // namespace treesample::cli
