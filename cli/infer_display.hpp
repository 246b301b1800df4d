// The display while `infer` works: a line of progress, remarks, and the trace.
#pragma once

#include <string>
#include <vector>

#include "terminal.hpp"
#include "trace_file.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/page/answer_page.hpp"

namespace treesample::cli {

// Seconds since the program began.
double process_seconds();

class InferDisplay {
 public:
  // If the path is empty, no trace is written. `keeps_trace` keeps one of all phases.
  InferDisplay(InferRequest request, bool is_quiet, const std::string& trace, bool keeps_trace = false);

  // Valid as long as this object lives. Ctrl-C ends the run.
  [[nodiscard]] Observer observer();
  // Removes the line of progress.
  void clear() { progress_.clear(); }
  // Writes the last row of the trace of a search.
  void finish(const Answer& answer);
  [[nodiscard]] const std::vector<TracePoint>& trace() const { return kept_; }

 private:
  void show(const treesample::Progress& now);
  void keep(TracePoint point, bool is_last);

  const InferRequest request_;
  const bool is_quiet_, keeps_trace_;
  Progress progress_;
  TraceFile trace_;
  std::vector<TracePoint> kept_;
  std::string phase_;
  double phase_begin_ = 0.0;
};

}  // namespace treesample::cli
