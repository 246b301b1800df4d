// How to ask long work to end, and to report how far it is.
//
//   should_stop    the caller wants the work to end now (the time is over, Ctrl-C). Work that has a partial result
//                  returns it; other work throws Error (kInterrupted) and leaves everything as it was before.
//   should_settle  the caller is content with the best result so far. The first result, such as the first of several
//                  orders or passes, is still computed.
//
// Once either has returned true, it never returns false again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "treesample/error.hpp"

namespace treesample {

using ShouldStop = std::function<bool()>;
// Called now and then with the finished share of the work, on the calling thread; may be empty. Work that ends early
// does not reach 1.
using TellShare = std::function<void(double share_done)>;

// Calls a ShouldStop only after a certain amount of work, counted in steps of some nanoseconds, so that the calls cost
// next to nothing.
class StopCheck {
 public:
  static constexpr std::int64_t kStepsBetweenLooks = std::int64_t{1} << 16;

  // The function is copied; an empty one never stops.
  explicit StopCheck(ShouldStop should_stop) : should_stop_(std::move(should_stop)) {}

  // True once the function has returned true, now or earlier.
  bool is_asked(std::int64_t steps = 1) {
    num_steps_ += steps;
    if (num_steps_ < kStepsBetweenLooks) return is_asked_;
    return look();
  }
  // Throws Error (kInterrupted) if the function has returned true.
  void go_on(const char* function, std::int64_t steps = 1) {
    if (is_asked(steps)) throw Error(ErrorCode::kInterrupted, std::string(function) + ": asked to end");
  }

 private:
  bool look() {
    num_steps_ = 0;
    is_asked_ = is_asked_ || (should_stop_ && should_stop_());
    return is_asked_;
  }

  ShouldStop should_stop_;
  std::int64_t num_steps_ = 0;
  bool is_asked_ = false;
};

}  // namespace treesample
