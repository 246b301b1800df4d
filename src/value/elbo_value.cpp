#include "treesample/value/elbo_value.hpp"

#include <algorithm>
#include <cmath>

#include "treesample/error.hpp"

namespace treesample {

ElboValue::ElboValue(const FactorGraph& graph, const SearchSpace& space)
    : LeafValue(space), num_variables_(graph.num_variables()) {
  check_argument(space.kind != SpaceKind::kAndOr && graph.has_only_tables(), "ElboValue",
                 "needs tables alone, and the space tree or graph (--leaf means)");
  std::vector<int> level_of(graph.num_variables());
  for (int n = 0; n < space.num_levels(); ++n) {
    level_of[space.levels[n].variable] = n;
    levels_.push_back(
        {.constant = space.levels[n].log_states_below, .pending = {}, .num_states = space.levels[n].num_states});
  }
  for (const Factor& factor : graph.factors()) {
    std::vector<int> scope = factor.scope();
    if (scope.empty()) continue;
    std::sort(scope.begin(), scope.end(), [&](int a, int b) { return level_of[a] < level_of[b]; });
    int next_level = 0;  // the first level for which no mean of this factor was made yet
    for (std::size_t j = 0; j < scope.size(); ++j) {
      PartialMean mean;
      mean.variables.assign(scope.begin(), scope.begin() + static_cast<std::ptrdiff_t>(j));
      int size = 1;
      for (const int v : mean.variables) {
        mean.strides.push_back(size);
        size *= graph.num_states(v);
      }
      mean.values.assign(size, 0.0);
      std::vector<int> states(factor.scope().size(), 0);
      const std::vector<double>& table = factor.log_values();
      for (const double value : table) {
        check_argument(std::isfinite(value), "ElboValue", "needs factors without -inf (--leaf means)");
        int index = 0;
        for (std::size_t s = 0; s < states.size(); ++s) {
          const auto found = std::find(mean.variables.begin(), mean.variables.end(), factor.scope()[s]);
          if (found != mean.variables.end()) index += states[s] * mean.strides[found - mean.variables.begin()];
        }
        mean.values[index] += value * size / static_cast<double>(table.size());
        for (std::size_t s = states.size(); s-- > 0;) {  // the last variable runs fastest
          if (++states[s] < graph.num_states(factor.scope()[s])) break;
          states[s] = 0;
        }
      }
      for (; next_level <= level_of[scope[j]]; ++next_level) {
        if (j == 0) {
          levels_[next_level].constant += mean.values[0];
        } else {
          levels_[next_level].pending.push_back(mean);
        }
      }
    }
  }
}

void ElboValue::q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const {
  const LevelTerms& terms = levels_[level];
  for (int r = 0; r < count; ++r) {
    const std::span<const int> x = prefixes.subspan(static_cast<std::size_t>(r) * num_variables_, num_variables_);
    double value = terms.constant;
    for (const PartialMean& mean : terms.pending) {
      int index = 0;
      for (std::size_t i = 0; i < mean.variables.size(); ++i) index += x[mean.variables[i]] * mean.strides[i];
      value += mean.values[index];
    }
    std::fill_n(q.begin() + static_cast<std::ptrdiff_t>(r) * terms.num_states, terms.num_states, value);
  }
}

}  // namespace treesample
