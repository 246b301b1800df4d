// Configurations whose rewards were paid for before a search, so that it need not pay for them again.
#pragma once

#include <vector>

#include "treesample/model/factor_graph.hpp"
#include "treesample/space/search_space.hpp"

namespace treesample {

struct KnownPath {
  struct Step {
    double reward = 0.0;
    double magnitude = 0.0;  // as from Reward::magnitude()
  };
  Assignment x;             // by variable; only the states of the steps are read
  std::vector<Step> steps;  // by level, from the first on; none after -inf
};
using KnownPaths = std::vector<KnownPath>;

// Throws Error (kArgument) if a path does not fit the space.
void check_known_paths(const char* function, const SearchSpace& space, const KnownPaths& paths);

}  // namespace treesample
