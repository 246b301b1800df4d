// `infer --trace`: how the answer of a search grew, as CSV.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "treesample/model/budget.hpp"
#include "treesample/search/anytime_search.hpp"

namespace treesample::cli {

// Rows of (seconds, evaluations, L, U, estimate), at most a few thousand, denser at the beginning. Each is in the file
// as soon as it is known. Bounds are the best so far; a search without bounds has -inf and inf.
class TraceFile {
 public:
  // Traversals between two looks: searches of a few hundred evaluations have a curve too.
  static constexpr int kInterval = 16;

  // An empty path writes nothing. `log_slack` widens the bounds (SimplifyReport, SummedModel).
  TraceFile(std::string path, double log_slack);
  [[nodiscard]] bool is_wanted() const { return !path_.empty(); }
  void add(double seconds, const Spending& spent, const LogBounds& bounds, double estimate);
  // The last row, whenever it comes.
  void finish(double seconds, const Spending& spent, const LogBounds& bounds, double estimate);

 private:
  struct Close {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
  };
  void write(const std::string& text);
  [[noreturn]] void fail() const;

  std::string path_;
  double log_slack_;
  std::unique_ptr<std::FILE, Close> file_;
  LogBounds best_;
  double next_seconds_ = 0.0, next_evaluations_ = 0.0;  // when the next row is due, by either
};

}  // namespace treesample::cli
