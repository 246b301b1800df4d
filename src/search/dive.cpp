// Depth-first parts of the search with bounds: dives, and following a configuration that is known.
#include "search/bounded_search.hpp"
#include "search/q_uct.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// Expansions that one dive may make, per level of the space.
constexpr std::int64_t kDiveFuelPerLevel = 4;

}  // namespace

// Expands the nodes that a configuration passes from a node down.
void BoundedSearch::follow(int level, NodeIndex index, const Assignment& x) {
  const Level& here = space_.levels[level];
  if (store_->node(level, index).is_complete) return;
  if (!store_->node(level, index).is_expanded()) {
    if (!can_expand(level) || !expand(level, index)) return;
  }
  const int action = x[here.variable];
  x_[here.variable] = action;
  for (std::size_t j = 0; j < here.children.size(); ++j) {
    const NodeIndex child = store_->expansion(level, store_->node(level, index)).links(action)[j];
    if (child != kNoNode) follow(here.children[j], child, x);
  }
  x_[here.variable] = -1;
  back_up(level, index);
}

// Where nothing is known to be possible, every few traversals. The mass rule comes to complete configurations by
// itself, unless impossible states are in the way. Dives evaluate one node after the other, and must not meet one that
// is pending.
bool BoundedSearch::is_dive_due(int level, NodeIndex index) const {
  if (options_.dive_interval == 0 || num_traversals_ % options_.dive_interval != 0 || !pending_.empty()) return false;
  if (options_.select == SelectRule::kMass && (!has_zeros_ || bounds_.lower != kNegInf)) return false;
  const BoundNode& node = store_->node(level, index);
  return node.has_no_lower() && !node.is_complete;
}

void BoundedSearch::dive(int level, NodeIndex index) {
  std::int64_t fuel = kDiveFuelPerLevel * space_.num_levels();
  ++num_dives_;
  dive(level, index, fuel);
}

// Depth-first below a node until its L is finite or it is dead. False when neither was reached within the fuel.
// Pre: x_ holds the path down to the node.
bool BoundedSearch::dive(int level, NodeIndex index, std::int64_t& fuel) {
  const auto is_done = [&] {
    const BoundNode& node = store_->node(level, index);
    return node.is_complete || !node.has_no_lower();
  };
  if (is_done()) return true;
  if (!store_->node(level, index).is_expanded()) {
    if (fuel-- <= 0 || !can_expand(level) || !expand(level, index)) return false;
    back_up(level, index);
  }
  const Level& here = space_.levels[level];
  std::vector<bool> is_tried(here.num_states, false);
  // A dive that stopped short below has nothing left for other edges either. Going on would walk what is expanded
  // already, once for every path, of which shared nodes have exponentially many.
  bool is_out_of_fuel = false;
  while (!is_done() && !is_out_of_fuel) {
    const int action = next_dive_action(level, store_->node(level, index), is_tried);
    if (action < 0) break;
    x_[here.variable] = action;
    for (std::size_t j = 0; j < here.children.size() && !is_out_of_fuel; ++j) {
      const NodeIndex child = store_->expansion(level, store_->node(level, index)).links(action)[j];
      is_out_of_fuel = !dive(here.children[j], child, fuel);
      if (store_->node(here.children[j], child).is_dead()) break;
    }
    back_up(level, index);
  }
  x_[here.variable] = -1;
  return is_done();
}

// The incomplete edge with the largest V of those that were not tried, the lowest of equals; -1 when there is none.
int BoundedSearch::next_dive_action(int level, const BoundNode& node, std::vector<bool>& is_tried) {
  edges_.gather(*store_, level, node);
  int chosen = -1;
  double best = kNegInf;
  for (int a = 0; a < edges_.num_states(); ++a) {
    if (!edges_.is_open(a) || is_tried[a]) continue;
    const double estimate = edges_.values(a).log_estimate();
    if (chosen >= 0 && !is_higher(estimate, best)) continue;
    chosen = a;
    best = estimate;
  }
  if (chosen >= 0) is_tried[chosen] = true;
  return chosen;
}

}  // namespace treesample
