// How often random tests are repeated.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "treesample/math/random.hpp"

namespace treesample::testing {

// `make torture` sets TREESAMPLE_TRIALS, by which the number of trials is multiplied.
inline int num_trials(int usual) {
  const char* const text = std::getenv("TREESAMPLE_TRIALS");
  return usual * (text == nullptr ? 1 : std::max(1, std::atoi(text)));
}

inline int below(Random& random, int end) { return static_cast<int>(random.below(static_cast<std::uint64_t>(end))); }

}  // namespace treesample::testing
