#include "treesample/space/limits.hpp"

#include <fmt/format.h>

namespace treesample {

void Limits::validate() const {
  check_range("Limits", "budget", budget, 0, kUnlimited);
  check_argument(calls == kUnlimited, "Limits",
                 fmt::format("calls is {}: to a method it is a budget in the unit kCall", calls));
  check_argument(seconds >= 0.0, "Limits", fmt::format("seconds is {}, allowed are values of at least 0", seconds));
  check_argument(gap >= 0.0, "Limits", fmt::format("gap is {}, allowed are values of at least 0", gap));
  check_range("Limits", "threads", threads, 0, 4096);
}

const char* to_string(StopReason reason) {
  switch (reason) {
    case StopReason::kExact:
      return "exact";
    case StopReason::kRounding:
      return "rounding";
    case StopReason::kConverged:
      return "converged";
    case StopReason::kBudget:
      return "budget";
    case StopReason::kTime:
      return "time";
    case StopReason::kMemory:
      return "memory";
    case StopReason::kGap:
      return "gap";
    case StopReason::kInterrupted:
      return "interrupted";
    case StopReason::kFactorFailed:
      return "factor failed";
  }
  return "";
}

}  // namespace treesample
