#include "tree/edge_rewards.hpp"

namespace treesample {
namespace {

// How many rewards are tabulated in advance: few compared with the evaluations to come.
std::size_t num_table_entries(const Limits& limits) {
  return static_cast<std::size_t>(std::clamp<std::int64_t>(limits.budget / 8, 0, 1 << 16));
}

}  // namespace

EdgeRewards::EdgeRewards(const FactorGraph& graph, const SearchSpace& space, const Limits& limits)
    : reward_(graph, space),
      tables_(graph, space, reward_, num_table_entries(limits)),
      budget_(budget_of(limits, graph.evaluation_queue())),
      magnitudes_(space.levels.size(), 0.0) {
  for (int n = 0; n < space.num_levels(); ++n) fewest_factors_ = std::min(fewest_factors_, reward_.num_factors(n));
}

}  // namespace treesample
