// Figures of searches with bounds over time, from the files of `treesample infer --trace`.
#pragma once

#include <string>
#include <vector>

#include "report.hpp"

namespace treesample::experiments {

// What was known about log Z from this moment on.
struct TraceRow {
  double seconds = 0.0;
  double evaluations = 0.0;
  double lower = 0.0, upper = 0.0;  // certified
  double estimate = 0.0;
};

struct Trace {
  std::string label;
  std::vector<TraceRow> rows;  // by time
};

// A CSV file with the columns seconds, evaluations, lower, upper, estimate, in any order and among others; lines that
// begin with # are skipped. Throws Error (kIo, kParse) naming file and line.
Trace read_trace(const std::string& label, const std::string& path);

// Two figures, one of the bounds and one of the gap between them, and a table with the end of each trace.
Report trace_report(const std::vector<Trace>& traces);

}  // namespace treesample::experiments
