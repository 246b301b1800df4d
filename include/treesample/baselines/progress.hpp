// What the baselines tell an observer while they run.
#pragma once

#include <cstdint>
#include <functional>

#include "treesample/space/budget.hpp"

namespace treesample {

struct BaselineProgress {
  Spending spent;
  std::int64_t num_samples = 0;  // finished so far; 0 until the last level in SIS and SMC
  double seconds = 0.0;
};

// Returning false ends the run (StopReason::kInterrupted). Called after every sample, in SIS and SMC after
// every few hundred reward evaluations.
using BaselineObserver = std::function<bool(const BaselineProgress&)>;

}  // namespace treesample
