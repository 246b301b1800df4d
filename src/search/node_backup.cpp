#include "search/node_backup.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace treesample {

NodeBackup::NodeBackup(const FactorGraph& graph, BoundStore& store, SelectionRule& rule, bool has_free_estimates)
    : store_(store), rule_(rule), edges_(store.space(), has_free_estimates) {
  edges_.see_factors(graph, store.space());
}

NodeBackup::NodeBackup(const NodeBackup& other, BoundStore& store, SelectionRule& rule)
    : store_(store), rule_(rule), edges_(other.edges_) {}

const EdgeBounds& NodeBackup::edges_of(BoundStore::Place place) {
  edges_.gather(store_, place.level, store_.node(place.level, place.index));
  return edges_;
}

const EdgeBounds& NodeBackup::back_up(BoundStore::Place place) {
  BoundNode& node = store_.node(place.level, place.index);
  edges_.back_up(store_, place.level, node);
  if (node.is_pending) node.is_pending = false;
  if (node.is_complete) return edges_;
  const Expansion expansion = store_.expansion(place.level, node);
  const int action = edges_.num_open() > 1 ? rule_.choose(place.level, edges_, expansion) : edges_.last_open();
  if (action >= 0) {
    expansion.choice() = static_cast<std::uint32_t>(action);
  } else {
    node.is_pending = true;
    blocked_.push_back(place);
  }
  return edges_;
}

void NodeBackup::back_up_path(SearchPath& path) {
  std::uint32_t ahead = BoundNode::kNoExpansion;  // where the choice of the node below leads
  for (std::size_t i = path.nodes.size(); i-- > 0;) {
    const auto [level, index] = path.nodes[i];
    back_up(path.nodes[i]);
    const BoundNode& node = store_.node(level, index);
    const Expansion expansion = store_.expansion(level, node);
    int& action = path.x[store_.variable(level)];
    if (expansion.has_hints()) expansion.hint(action) = ahead;
    ahead = node.is_open() ? store_.chosen_expansion(level, expansion) : BoundNode::kNoExpansion;
    action = -1;
  }
}

void NodeBackup::release_blocked() {
  std::vector<BoundStore::Place> blocked = std::exchange(blocked_, {});
  std::ranges::stable_sort(blocked, std::greater{}, &BoundStore::Place::level);
  for (const BoundStore::Place& place : blocked) {
    if (store_.node(place.level, place.index).is_pending) back_up(place);
  }
}

void NodeBackup::forget_blocked_if(const std::function<bool(BoundStore::Place)>& is_forgotten) {
  std::erase_if(blocked_, is_forgotten);
}

}  // namespace treesample
