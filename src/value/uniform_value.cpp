#include <algorithm>

#include "treesample/value/value_function.hpp"

namespace treesample {

UniformValue::UniformValue(const SearchSpace& space) {
  for (const Level& level : space.levels) log_states_below_.push_back(level.log_states_below);
}

void UniformValue::q_values(int level, std::span<const int> /*prefixes*/, int /*count*/, std::span<double> q) const {
  std::fill(q.begin(), q.end(), log_states_below_[level]);
}

}  // namespace treesample
