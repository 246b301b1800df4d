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

// The intersection of bounds that both hold. If later bounds have taken back the earlier ones, the later ones.
LogBounds best_of(const LogBounds& earlier, const LogBounds& later);

// Rows of (seconds, evaluations, L, U, estimate): at most a few thousand, denser at the beginning and where the bounds
// move. Each is in the file as soon as it is known. Bounds are the best so far; a search without bounds has -inf and
// inf.
class TraceFile {
 public:
  // If the path is empty, nothing is written. If there is no row, there is no file.
  explicit TraceFile(std::string path) : path_(std::move(path)) {}
  void add(double seconds, const Spending& spent, const LogBounds& bounds, double estimate);
  // Writes the last row, even if it is not due. Throws (kWrite) if this or an earlier row could not be written: a run
  // is worth more than its trace, so it was not stopped earlier.
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
  static constexpr double kNews = 0.98;  // a row is due when the gap is below this share of the last row's
  double last_gap_ = std::numeric_limits<double>::infinity();
  std::int64_t evaluations_ = 0;
  double next_seconds_ = 0.0, next_evaluations_ = 0.0;  // a row is due at either of these
};

}  // namespace treesample::cli
