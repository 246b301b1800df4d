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
void SearchState::follow(Place root, const Assignment& x) {
  struct Frame {
    Place place;
    std::size_t next_child = 0;
  };
  std::vector<Frame> open;
  const auto enter = [&](Place place) {
    if (node(place).is_complete) return;
    if (!node(place).is_expanded()) {
      if (!can_expand(place.level) || watch_.is_asked_to_stop() || !expand(place)) return;
    }
    const int variable = space_.levels[place.level].variable;
    path_.x[variable] = x[variable];
    open.push_back({place});
  };
  enter(root);
  while (!open.empty()) {
    const Place place = open.back().place;
    const Level& here = space_.levels[place.level];
    if (open.back().next_child == here.children.size()) {
      path_.x[here.variable] = -1;
      back_up(place);
      open.pop_back();
      continue;
    }
    const std::size_t j = open.back().next_child++;
    const Place child = child_of(place, x[here.variable], j);
    if (child.index != kNoNode) enter(child);
  }
}

// Dives are made every few traversals below a node where nothing is known to be possible. The mass rule reaches
// complete configurations by itself, unless it meets impossible states. Dives evaluate one node after the other and
// must not meet a pending one.
bool SearchState::is_dive_due(Place place) const {
  if (options_.dive_interval == 0 || counts_.traversals % options_.dive_interval != 0) return false;
  if (rewards_.has_pending()) return false;
  if (rule_->goes_by_estimates() && (!nodes_.has_zeros() || !has_no_lower(*store_))) return false;
  return node(place).has_no_lower() && !node(place).is_complete;
}

// Depth-first below a node until its L is finite, it is dead, or the fuel is used up. If the dive stops short below one
// edge, it does not try the others either: it would walk through what is expanded already once for every path, and
// shared nodes have exponentially many. Pre: path_.x holds the path down to
// the node.
void SearchState::dive(Place top) {
  struct Frame {
    Place place;
    std::vector<bool> is_tried;
    std::size_t next_child = 0;
    bool has_action = false, is_out_of_fuel = false;
  };
  ++counts_.dives;
  std::int64_t fuel = kDiveFuelPerLevel * space_.num_levels();
  std::vector<Frame> open;
  bool is_reached = true;  // whether the node left last was finished
  const auto is_done = [&](Place place) { return node(place).is_complete || !node(place).has_no_lower(); };
  const auto enter = [&](Place place) {
    is_reached = is_done(place);
    if (is_reached) return;
    if (!node(place).is_expanded()) {
      if (fuel-- <= 0 || watch_.is_asked_to_stop() || !can_expand(place.level) || !expand(place)) return;
      back_up(place);
    }
    open.push_back({place, std::vector<bool>(space_.levels[place.level].num_states, false)});
  };
  enter(top);
  while (!open.empty()) {
    Frame& frame = open.back();
    const Place place = frame.place;
    const Level& here = space_.levels[place.level];
    if (!frame.has_action) {
      const bool goes_on = !frame.is_out_of_fuel && !is_done(place);
      const int action = goes_on ? next_dive_action(place, frame.is_tried) : -1;
      path_.x[here.variable] = action;
      if (action < 0) {
        is_reached = is_done(place);
        open.pop_back();
        continue;
      }
      frame.has_action = true;
      frame.next_child = 0;
    } else {
      const std::size_t left = frame.next_child - 1;
      const Place child = child_of(place, path_.x[here.variable], left);
      frame.is_out_of_fuel = !is_reached;
      if (node(child).is_dead()) frame.next_child = here.children.size();
    }
    if (frame.is_out_of_fuel || frame.next_child == here.children.size()) {
      frame.has_action = false;
      back_up(place);
      continue;
    }
    enter(child_of(place, path_.x[here.variable], frame.next_child++));
  }
}

SearchState::Place SearchState::child_of(Place place, int action, std::size_t child) const {
  const Expansion expansion = store_->expansion(place.level, node(place));
  return {space_.levels[place.level].children[child], expansion.links(action)[child]};
}

// The incomplete edge with the largest V among those not tried, the lowest of equals; -1 when there is none.
int SearchState::next_dive_action(Place place, std::vector<bool>& is_tried) {
  const EdgeBounds& edges = backup_.edges_of(place);
  int chosen = -1;
  double best = kNegInf;
  for (int a = 0; a < edges.num_states(); ++a) {
    if (!edges.is_open(a) || is_tried[a]) continue;
    const double estimate = edges.values(a).log_estimate();
    if (chosen >= 0 && !is_higher(estimate, best)) continue;
    chosen = a;
    best = estimate;
  }
  if (chosen >= 0) is_tried[chosen] = true;
  return chosen;
}

}  // namespace treesample
