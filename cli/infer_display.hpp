// What a person sees while `infer` works: a line of progress, remarks, and the trace that was asked for.
#pragma once

#include <string>

#include "terminal.hpp"
#include "trace_file.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample::cli {

// Seconds since the program began.
double process_seconds();

class InferDisplay {
 public:
  // An empty path writes no trace.
  InferDisplay(InferRequest request, bool is_quiet, const std::string& trace);

  // Valid as long as this is. Ctrl-C asks for the end.
  [[nodiscard]] Observer observer();
  // Takes the line of progress away.
  void clear() { progress_.clear(); }
  // The last row of the trace of a search.
  void finish(const Answer& answer);

 private:
  void show(const treesample::Progress& now);

  const InferRequest request_;
  const bool is_quiet_;
  Progress progress_;
  TraceFile trace_;
};

}  // namespace treesample::cli
