#include <fmt/format.h>

#include "treesample/error.hpp"
#include "treesample/search/tree_sample.hpp"

namespace treesample {

void SearchOptions::validate() const {
  check_range("SearchOptions", "budget", budget, 0, INT64_MAX);
  check_range("SearchOptions", "observer_interval", observer_interval, 0, 1 << 30);
  check_at_least("SearchOptions", "c", c, 0.0);
  check_at_least("SearchOptions", "epsilon", epsilon, 0.0);
  check_argument(time_limit_seconds > 0.0, "SearchOptions",
                 fmt::format("time_limit_seconds is {}, allowed are values above 0", time_limit_seconds));
}

const char* to_string(StopReason reason) {
  switch (reason) {
    case StopReason::kExact:
      return "exact";
    case StopReason::kRounding:
      return "rounding";
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
