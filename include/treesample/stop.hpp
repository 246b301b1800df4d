// How work that takes long is asked to end, and says how far it is.
//
//   should_stop    the caller wants no more (the time is over, Ctrl-C), and from then on. What can end early with a
//                  lesser result does so; what cannot throws Error (kInterrupted), and is then as if it had never
//                  begun.
//   should_settle  the caller takes what there is by now. The first result, such as the first of several orders or
//                  passes, is made all the same.
//
// Both return true to say so, and never false again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "treesample/error.hpp"

namespace treesample {

using ShouldStop = std::function<bool()>;
// Told the share that is done now and then, by the thread that called; an empty one is not told. Work that ends early
// does not come to 1.
using TellShare = std::function<void(double share_done)>;

// Asks after every so much work, counted in steps of some nanoseconds, so that asking costs nothing beside it.
class StopCheck {
 public:
  static constexpr std::int64_t kStepsBetweenLooks = std::int64_t{1} << 16;

  // The function is copied; an empty one never stops.
  explicit StopCheck(ShouldStop should_stop) : should_stop_(std::move(should_stop)) {}

  // True once the function, asked now or earlier, wanted the end.
  bool is_asked(std::int64_t steps = 1) {
    num_steps_ += steps;
    if (num_steps_ < kStepsBetweenLooks) return is_asked_;
    return look();
  }
  // Throws Error (kInterrupted) then.
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
