// The number of threads of a run.
#pragma once

#include "thread_team.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

// As many as the limits allow; 0 means one per core.
inline int num_threads(const Limits& limits) { return limits.threads == 0 ? num_cores() : limits.threads; }

}  // namespace treesample
