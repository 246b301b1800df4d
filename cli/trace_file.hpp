// `infer --trace`: how the answer of a search grew, as CSV.
#pragma once

#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/space/limits.hpp"

namespace treesample::cli {

// The best of bounds that both hold; those that were told later where they took back the earlier ones.
LogBounds best_of(const LogBounds& earlier, const LogBounds& later);

// Rows of (seconds, evaluations, L, U, estimate), at most a few thousand, denser at the beginning and where the bounds
// come closer. Each is in the file as soon as it is known. Bounds are the best so far; a search without bounds has -inf
// and inf.
class TraceFile {
 public:
  // An empty path writes nothing. Without a row there is no file.
  explicit TraceFile(std::string path) : path_(std::move(path)) {}
  void add(double seconds, const Spending& spent, const LogBounds& bounds, double estimate);
  // Writes the last row, even if it is not due. Throws (kWrite) where this or an earlier row cannot be written: a run
  // is worth more than its trace and goes on.
  void finish(double seconds, const Spending& spent, const LogBounds& bounds, double estimate);

 private:
  struct Close {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
  };
  void write(const std::string& text);
  void keep_failure();

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::optional<Error> failure_;
  LogBounds best_;
  static constexpr double kNews = 0.98;  // times the gap of the last row
  double last_gap_ = std::numeric_limits<double>::infinity();
  std::int64_t evaluations_ = 0;
  double next_seconds_ = 0.0, next_evaluations_ = 0.0;  // when the next row is due, by either
};

}  // namespace treesample::cli
