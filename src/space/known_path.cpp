#include "treesample/space/known_path.hpp"

#include "treesample/error.hpp"

namespace treesample {

void check_known_paths(const char* function, const SearchSpace& space, const KnownPaths& paths) {
  for (const KnownPath& path : paths) {
    bool is_fitting = path.x.size() == space.levels.size() && path.steps.size() <= space.levels.size();
    for (std::size_t n = 0; is_fitting && n < path.steps.size(); ++n) {
      const int state = path.x[static_cast<std::size_t>(space.levels[n].variable)];
      is_fitting = state >= 0 && state < space.levels[n].num_states && is_log_value(path.steps[n].reward);
    }
    check_argument(is_fitting, function, "a known path does not fit the space, or has a reward of NaN or +inf");
  }
}

}  // namespace treesample
