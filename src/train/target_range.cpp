#include "train/target_range.hpp"

#include <algorithm>
#include <cmath>

namespace treesample {
namespace {

constexpr double kSlack = 100.0;  // nats

// The smallest finite value and the largest value. A factor that is -inf everywhere counts as 0, as in the offsets.
TargetRange value_range(const Factor& factor) {
  if (!factor.is_table()) return {-HUGE_VAL, factor.log_max().value_or(HUGE_VAL)};
  TargetRange range = {HUGE_VAL, -HUGE_VAL};
  for (const double value : factor.log_values()) {
    if (std::isinf(value)) continue;
    range.low = std::min(range.low, value);
    range.high = std::max(range.high, value);
  }
  return range.low <= range.high ? range : TargetRange{0.0, 0.0};
}

}  // namespace

std::vector<TargetRange> target_ranges(const FactorGraph& graph, const SearchSpace& space,
                                       const std::vector<double>& offsets) {
  std::vector<TargetRange> ranges(space.levels.size());
  TargetRange pending = {0.0, 0.0};
  for (int n = space.num_levels() - 1; n >= 0; --n) {
    for (const int m : space.levels[n].factors) {
      const TargetRange values = value_range(graph.factor(m));
      pending.low += values.low;
      pending.high += values.high;
    }
    const double high = space.levels[n].log_states_below + pending.high;
    const double slack = kSlack + (high - pending.low);
    ranges[n] = {pending.low - slack - offsets[n], high + slack - offsets[n]};
  }
  return ranges;
}

}  // namespace treesample
