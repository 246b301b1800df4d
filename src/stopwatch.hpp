// Seconds of wall-clock time.
#pragma once

#include <chrono>

namespace treesample {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const { return seconds_since(start_); }

 private:
  Clock::time_point start_ = Clock::now();
};

}  // namespace treesample
