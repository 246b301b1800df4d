#include "treesample/math/log_bounds.hpp"

#include "treesample/error.hpp"

namespace treesample {

void LogBounds::throw_contradiction() {
  throw Error(ErrorCode::kNumeric, "the certified bounds of log Z contradict each other: is a declared log_max wrong?");
}

}  // namespace treesample
