#include "trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "treesample/error.hpp"

namespace treesample::cli {

TraceFile::TraceFile(std::string path, double log_slack) : path_(std::move(path)), log_slack_(log_slack) {
  if (path_.empty()) return;
  file_.reset(std::fopen(path_.c_str(), "w"));
  write("seconds,evaluations,lower,upper,estimate\n");
}

void TraceFile::add(double seconds, const Spending& spent, const LogBounds& bounds, double estimate) {
  best_ = {std::max(best_.lower, bounds.lower), std::min(best_.upper, bounds.upper)};
  const auto evaluations = static_cast<double>(spent.reward_evaluations);
  if (path_.empty() || (seconds < next_seconds_ && evaluations < next_evaluations_)) return;
  next_seconds_ = seconds * 1.01 + 1e-2;
  next_evaluations_ = evaluations * 1.02 + 1.0;
  const LogBounds shown = best_.widened(log_slack_);
  write(fmt::format("{:.6f},{},{},{},{}\n", seconds, spent.reward_evaluations, shown.lower, shown.upper,
                    best_.clamp(estimate)));
}

void TraceFile::finish(double seconds, const Spending& spent, const LogBounds& bounds, double estimate) {
  next_seconds_ = 0.0;
  add(seconds, spent, bounds, estimate);
  if (file_ && std::fclose(file_.release()) != 0) fail();
}

void TraceFile::write(const std::string& text) {
  if (!file_ || std::fputs(text.c_str(), file_.get()) < 0 || std::fflush(file_.get()) != 0) fail();
}

void TraceFile::fail() const {
  throw Error(ErrorCode::kWrite, fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
}

}  // namespace treesample::cli
