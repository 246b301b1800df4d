#include "treesample/store/passes.hpp"

#include <algorithm>
#include <cmath>

#include "math/compensated_sum.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

NodesByLevel::NodesByLevel(const StoreView& view, const ShouldStop& should_stop) : view_(&view) {
  if (!view.is_tree()) return;
  const int num_levels = view.space().num_levels();
  order_.resize(static_cast<std::size_t>(num_levels));
  if (num_levels == 0 || view.root(0) == kNoNode) return;
  positions_.resize(view.end_index(0));
  order_[0].push_back(view.root(0));
  NodeEdges edges;
  StopCheck stop(should_stop);
  for (int n = 0; n + 1 < num_levels; ++n) {  // a path: level n + 1 is below
    for (const NodeIndex index : order_[n]) {
      stop.go_on("pass", 8);
      view.read(n, index, StoreView::Read::kChildren, edges);
      for (const NodeIndex child : edges.children) {
        if (child == kNoNode) continue;
        positions_[child] = static_cast<std::uint32_t>(order_[n + 1].size());
        order_[n + 1].push_back(child);
      }
    }
  }
}

NodeContexts::NodeContexts(const SearchSpace& space, std::vector<std::vector<int>> contexts)
    : contexts_(std::move(contexts)), states_(contexts_.size()), sources_(contexts_.size()) {
  for (int n = 0; n < space.num_levels(); ++n) {
    const int parent = space.levels[n].parent;
    for (const int level : contexts_[n]) {
      const std::vector<int>& above = contexts_[parent];
      const auto found = std::lower_bound(above.begin(), above.end(), level);
      sources_[n].push_back(level == parent ? -1 : static_cast<int>(found - above.begin()));
    }
  }
}

namespace {

// The best value below a node. It is off by at most `error`, and so is the true largest value.
struct Best {
  double value = kNegInf;
  float error = 0.0F;
  int action = 0;
};

float rounded_up(double error) { return std::nextafter(static_cast<float>(error), HUGE_VALF); }

// Rounding must not decide between values that are equal. A difference that is overlooked here is part of the error.
bool is_better(double value, double best) {
  constexpr double kTie = 1e-13;
  return best == kNegInf ? value > best : value > best + kTie * (1.0 + std::abs(best));
}

}  // namespace

// The soft-Bellman recursion with the maximum in place of the log-sum-exp, over evaluated edges.
std::optional<StoredBest> best_in_store(const StoreView& view, std::span<const double> reward_rounding,
                                        const ShouldStop& should_stop) {
  const SearchSpace& space = view.space();
  const NodesByLevel nodes(view, should_stop);
  const auto best = pass_up<Best>(
      nodes, StoreView::Read::kRewards, Best{},
      [&](int level, const NodeEdges& edges, const auto& child) {
        const std::size_t num_children = space.levels[level].children.size();
        const auto num_factors = static_cast<double>(space.levels[level].factors.size());
        Best here;
        double most = kNegInf;
        for (int a = 0; a < space.levels[level].num_states; ++a) {
          double value = edges.rewards[a], magnitude = std::abs(value), error = 0.0;
          if (!reward_rounding.empty()) {
            error = reward_rounding[level] + kEpsilon * ((num_factors + 1.0) * magnitude + num_factors + 4.0);
          }
          for (std::size_t j = 0; j < num_children && value != kNegInf; ++j) {
            value += child(a, j).value;
            magnitude += std::abs(child(a, j).value);
            error += child(a, j).error;
          }
          if (value == kNegInf) continue;
          error += kEpsilon * static_cast<double>(num_children) * magnitude;
          most = std::max(most, value + error);
          if (is_better(value, here.value)) here = {value, rounded_up(error), a};
        }
        if (here.value != kNegInf) here.error = std::max(here.error, rounded_up(most - here.value));
        return here;
      },
      "best configuration", should_stop);
  StoredBest result{{Assignment(space.levels.size(), 0), space.log_constant}};
  std::vector<NodeIndex> at(space.levels.size(), kNoNode);  // by level: the node that the best configuration passes
  for (std::size_t r = 0; r < space.roots.size(); ++r) {
    const int root = space.roots[r];
    at[root] = view.root(r);
    const Best here = at[root] == kNoNode ? Best{} : best[root][nodes.position(at[root])];
    result.log_density += here.value;
    result.excess += 2.0 * here.error;  // the best value may be off, and so may that of the chosen configuration
  }
  if (result.log_density == kNegInf) return std::nullopt;
  NodeEdges edges;
  for (int n = 0; n < space.num_levels(); ++n) {
    const Level& level = space.levels[n];
    const int action = best[n][nodes.position(at[n])].action;
    result.x[level.variable] = action;
    view.read(n, at[n], StoreView::Read::kChildren, edges);
    for (std::size_t j = 0; j < level.children.size(); ++j) {
      at[level.children[j]] = edges.children[static_cast<std::size_t>(action) * level.children.size() + j];
    }
  }
  return result;
}

}  // namespace treesample
