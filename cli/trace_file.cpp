#include "trace_file.hpp"

#include <fmt/format.h>

#include "treesample/io/file.hpp"

namespace treesample::cli {

void TraceFile::add(double seconds, const Spending& spent, const LogBounds& bounds, double estimate) {
  const auto evaluations = static_cast<double>(spent.reward_evaluations);
  if (path_.empty() || (seconds < next_seconds_ && evaluations < next_evaluations_)) return;
  next_seconds_ = seconds * 1.01 + 1e-2;
  next_evaluations_ = evaluations * 1.02 + 1.0;
  text_ += fmt::format("{:.6f},{},{},{},{}\n", seconds, spent.reward_evaluations, bounds.lower - log_slack_,
                       bounds.upper + log_slack_, estimate);
}

void TraceFile::finish(double seconds, const Spending& spent, const LogBounds& bounds, double estimate) {
  next_seconds_ = 0.0;
  add(seconds, spent, bounds, estimate);
  if (!path_.empty()) write_file_atomically(path_, text_);
}

}  // namespace treesample::cli
