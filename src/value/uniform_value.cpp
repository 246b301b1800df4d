#include <algorithm>

#include "treesample/error.hpp"
#include "treesample/value/value_function.hpp"

namespace treesample {

void check_fits(const char* function, const ValueFunction* prior, const SearchSpace& space) {
  check_argument(prior == nullptr || prior->fits(space), function, "the prior was made for another search space");
}

UniformValue::UniformValue(const SearchSpace& space) : fingerprint_(space.fingerprint) {
  for (const Level& level : space.levels) log_states_below_.push_back(level.log_states_below);
}

void UniformValue::q_values(int level, std::span<const int> /*prefixes*/, int /*count*/, std::span<double> q) const {
  check_range("UniformValue::q_values", "level", level, 0, static_cast<int>(log_states_below_.size()) - 1);
  std::fill(q.begin(), q.end(), log_states_below_[level]);
}

}  // namespace treesample
