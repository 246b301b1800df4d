#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "search/bound_store.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/bounded_approximation.hpp"

namespace treesample {
namespace {

// The largest sum of rewards below an edge; -inf where something is not expanded.
double best_below(const BoundStore& store, const std::vector<std::vector<double>>& best, int level, NodeIndex index,
                  int action) {
  const Expansion expansion = store.expansion(level, store.node(level, index));
  double sum = expansion.reward(action);
  const std::vector<int>& children = store.space().levels[level].children;
  for (std::size_t j = 0; j < children.size() && sum != kNegInf; ++j) {
    sum += best[children[j]][expansion.links(action)[j]];
  }
  return sum;
}

}  // namespace

void check_below_upper(double log_density, double log_z_upper) {
  // Sums of many terms are rounded, bounds are not rounded inward.
  const double rounding = 1e-9 * (1.0 + std::abs(log_density));
  if (!(log_density > log_z_upper + rounding)) return;
  throw Error(ErrorCode::kNumeric,
              fmt::format("a configuration of log density {} was found, above the upper bound {} of log Z: a declared "
                          "log_max is too low, or a function gives two values for the same states",
                          log_density, log_z_upper));
}

std::optional<Configuration> best_configuration(const AnytimeResult& result, const ShouldStop& should_stop) {
  StopCheck stop(should_stop);
  const BoundStore& store = *result.store;
  const SearchSpace& space = store.space();
  std::vector<std::vector<double>> best(space.levels.size());
  for (int n = space.num_levels() - 1; n >= 0; --n) {
    best[n].assign(store.end_index(n), kNegInf);
    for (NodeIndex i = 0; i < store.end_index(n); ++i) {
      stop.go_on("best_configuration", 8);
      const BoundNode& node = store.node(n, i);
      if (node.is_given_back || !node.is_expanded()) continue;
      for (int a = 0; a < space.levels[n].num_states; ++a) {
        best[n][i] = std::max(best[n][i], best_below(store, best, n, i, a));
      }
    }
  }
  Configuration found{Assignment(space.levels.size(), -1), space.log_constant};
  std::vector<std::pair<int, NodeIndex>> open;
  for (std::size_t r = 0; r < space.roots.size(); ++r) {
    open.emplace_back(space.roots[r], store.root_links()[r]);
    found.log_density += best[space.roots[r]][store.root_links()[r]];
  }
  if (found.log_density == kNegInf) return std::nullopt;
  check_below_upper(found.log_density, result.report.log_z.upper);
  while (!open.empty()) {
    const auto [level, index] = open.back();
    open.pop_back();
    const Level& here = space.levels[level];
    int action = 0;
    while (best_below(store, best, level, index, action) != best[level][index]) ++action;
    found.x[here.variable] = action;
    const Expansion expansion = store.expansion(level, store.node(level, index));
    for (std::size_t j = 0; j < here.children.size(); ++j) {
      open.emplace_back(here.children[j], expansion.links(action)[j]);
    }
  }
  return found;
}

}  // namespace treesample
