// Depth-first parts of the search with bounds: dives, and following a known configuration.
#include "math/ties.hpp"
#include "search/search_state.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// The most expansions of one dive, per level of the space.
constexpr std::int64_t kDiveFuelPerLevel = 4;

}  // namespace

// Expands the nodes on the path of a configuration, from a root down. Neither this function nor dive() is recursive:
// paths can have hundreds of thousands of levels.
void SearchState::follow(int root, NodeIndex root_index, const Assignment& x) {
  struct Frame {
    Step node;
    std::size_t next_child = 0;
  };
  std::vector<Frame> open;
  const auto enter = [&](int level, NodeIndex index) {
    if (store_->node(level, index).is_complete) return;
    if (!store_->node(level, index).is_expanded()) {
      if (!can_expand(level) || is_asked_to_stop() || !expand(level, index)) return;
    }
    x_[space_.levels[level].variable] = x[space_.levels[level].variable];
    open.push_back({{level, index}});
  };
  enter(root, root_index);
  while (!open.empty()) {
    const auto [level, index] = open.back().node;
    const Level& here = space_.levels[level];
    if (open.back().next_child == here.children.size()) {
      x_[here.variable] = -1;
      back_up(level, index);
      open.pop_back();
      continue;
    }
    const std::size_t j = open.back().next_child++;
    const NodeIndex child = store_->expansion(level, store_->node(level, index)).links(x[here.variable])[j];
    if (child != kNoNode) enter(here.children[j], child);
  }
}

// Dives are made every few traversals below a node where nothing is known to be possible. The mass rule reaches
// complete configurations by itself, unless it meets impossible states. Dives evaluate one node after the other and
// must not meet a pending one.
bool SearchState::is_dive_due(int level, NodeIndex index) const {
  if (options_.dive_interval == 0 || num_traversals_ % options_.dive_interval != 0 || !pending_.empty()) return false;
  if (rule_->goes_by_estimates() && (!has_zeros_ || !has_no_lower(*store_))) return false;
  const BoundNode& node = store_->node(level, index);
  return node.has_no_lower() && !node.is_complete;
}

void SearchState::dive(int level, NodeIndex index) {
  ++num_dives_;
  dive(level, index, kDiveFuelPerLevel * space_.num_levels());
}

// Depth-first below a node until its L is finite, it is dead, or the fuel is used up. If the dive stops short below one
// edge, it does not try the others either: it would walk through what is expanded already once for every path, and
// shared nodes have exponentially many. Pre: x_ holds the path down to the node.
void SearchState::dive(int top_level, NodeIndex top_index, std::int64_t fuel) {
  struct Frame {
    Step node;
    std::vector<bool> is_tried;
    std::size_t next_child = 0;
    bool has_action = false, is_out_of_fuel = false;
  };
  std::vector<Frame> open;
  bool is_reached = true;  // whether the node left last was finished
  const auto is_done = [&](const Step& step) {
    const BoundNode& node = store_->node(step.level, step.index);
    return node.is_complete || !node.has_no_lower();
  };
  const auto enter = [&](const Step& step) {
    is_reached = is_done(step);
    if (is_reached) return;
    if (!store_->node(step.level, step.index).is_expanded()) {
      if (fuel-- <= 0 || is_asked_to_stop() || !can_expand(step.level) || !expand(step.level, step.index)) return;
      back_up(step.level, step.index);
    }
    open.push_back({step, std::vector<bool>(space_.levels[step.level].num_states, false)});
  };
  enter({top_level, top_index});
  while (!open.empty()) {
    Frame& frame = open.back();
    const Step step = frame.node;
    const Level& here = space_.levels[step.level];
    if (!frame.has_action) {
      const bool goes_on = !frame.is_out_of_fuel && !is_done(step);
      const int action =
          goes_on ? next_dive_action(step.level, store_->node(step.level, step.index), frame.is_tried) : -1;
      x_[here.variable] = action;
      if (action < 0) {
        is_reached = is_done(step);
        open.pop_back();
        continue;
      }
      frame.has_action = true;
      frame.next_child = 0;
    } else {
      const std::size_t left = frame.next_child - 1;
      const Step child = child_of(step, x_[here.variable], left);
      frame.is_out_of_fuel = !is_reached;
      if (store_->node(child.level, child.index).is_dead()) frame.next_child = here.children.size();
    }
    if (frame.is_out_of_fuel || frame.next_child == here.children.size()) {
      frame.has_action = false;
      back_up(step.level, step.index);
      continue;
    }
    enter(child_of(step, x_[here.variable], frame.next_child++));
  }
}

SearchState::Step SearchState::child_of(const Step& step, int action, std::size_t child) const {
  const Expansion expansion = store_->expansion(step.level, store_->node(step.level, step.index));
  return {space_.levels[step.level].children[child], expansion.links(action)[child]};
}

// The incomplete edge with the largest V among those not tried, the lowest of equals; -1 when there is none.
int SearchState::next_dive_action(int level, const BoundNode& node, std::vector<bool>& is_tried) {
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
