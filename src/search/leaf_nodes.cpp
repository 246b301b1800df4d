#include "search/leaf_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {}  // namespace

LeafNodes::LeafNodes(BoundStore& store, const LeafValues& leaves, bool learns)
    : store_(store), leaves_(leaves), last_leaves_(store.space().levels.size()) {
  if (learns) leaves_.estimate = calibration_.start(store.space());
}

LeafNodes::LeafNodes(const LeafNodes& other, BoundStore& store)
    : store_(store), leaves_(other.leaves_), has_zeros_(other.has_zeros_), last_leaves_(other.last_leaves_) {}

void LeafNodes::add_roots(const Assignment& x) {
  const std::vector<int>& roots = store_.space().roots;
  for (std::size_t r = 0; r < roots.size(); ++r) {
    const int root = roots[r];
    const double lower = leaves_.lower && !is_exact_leaf(root) ? leaves_.lower->log_value(root, x) : kNegInf;
    const double upper = leaves_.upper ? leaves_.upper->log_value(root, x) : kInf;
    store_.root_links()[r] = create_node(root, {lower, upper, {}}, x);
  }
}

void LeafNodes::add_edges(BoundStore::Place place, const RewardRow& row, Assignment& x) {
  const auto [level, index] = place;
  const Level& here = store_.space().levels[level];
  BoundNode& node = store_.node(level, index);
  store_.create_expansion(level, node);
  const Expansion expansion = store_.expansion(level, node);
  if (expansion.has_q_phi()) leaves_.estimate->q_values(level, x, 1, expansion.q_phi());
  rows_.resize(std::max(rows_.size(), here.children.size()));
  for (LeafRow& leaf_row : rows_) leaf_row.is_known = false;
  for (int a = 0; a < here.num_states; ++a) {
    x[here.variable] = a;
    const double reward = row.rewards[a];
    expansion.set_reward(a, reward);
    has_zeros_ = has_zeros_ || reward == kNegInf;
    if (!here.factors.empty()) calibration_.add(level, reward);  // an empty sum carries no information
    for (std::size_t j = 0; j < here.children.size() && reward != kNegInf; ++j) {
      expansion.links(a)[j] = child_node(here, j, x);
    }
  }
  x[here.variable] = -1;
}

// The node of a child level below the edge in x.
NodeIndex LeafNodes::child_node(const Level& here, std::size_t child, Assignment& x) {
  const int level = here.children[child];
  if (!store_.space().levels[level].is_shared) return create_node(level, leaf_of(here, child, x), x);
  NodeIndex& known = store_.find_or_insert(level, x);
  if (known == kNoNode) known = create_node(level, leaf_of(here, child, x), x);
  return known;
}

// The leaf values of a child level. Those of a node's edges share most look-ups, so all are made when one is needed; a
// network then gets one question instead of several. Learned estimates are asked one by one, because they change from
// edge to edge.
LeafNodes::Leaf LeafNodes::leaf_of(const Level& here, std::size_t child, Assignment& x) {
  LeafRow& row = rows_[child];
  const int level = here.children[child];
  const int action = x[here.variable];
  if (!row.is_known) {
    row.lower.assign(here.num_states, kNegInf);
    row.upper.assign(here.num_states, kInf);
    if (leaves_.upper) leaves_.upper->log_values(level, here.variable, x, row.upper);
    if (leaves_.lower && !is_exact_leaf(level)) leaves_.lower->log_values(level, here.variable, x, row.lower);
    row.estimate.clear();
    if (leaves_.estimate && !calibration_.is_on()) {
      row.estimate.resize(here.num_states);
      leaves_.estimate->log_values(level, here.variable, x, row.estimate);
    }
    x[here.variable] = action;
    row.is_known = true;
  }
  Leaf leaf{row.lower[action], row.upper[action]};
  if (!row.estimate.empty()) leaf.estimate = row.estimate[action];
  return leaf;
}

// Creates a node with these leaf values.
NodeIndex LeafNodes::create_node(int level, Leaf leaf, const Assignment& x) {
  const NodeIndex index = store_.create_node(level);
  BoundNode& node = store_.node(level, index);
  node.is_complete = is_exact_leaf(level) || leaf.upper == kNegInf;
  if (leaf.upper == kNegInf) {
    leaf.lower = kNegInf;
  } else if (leaves_.lower_bound) {
    leaf.lower = std::max(leaf.lower, leaves_.lower_bound(level, x));
  }
  double estimate = leaf.upper;
  if (leaves_.estimate && !node.is_complete) {
    estimate = leaf.estimate ? *leaf.estimate : leaves_.estimate->log_value(level, x);
  }
  if (leaves_.estimate && !node.is_complete && !(estimate < kInf)) {
    throw Error(ErrorCode::kNumeric,
                fmt::format("search: an estimate of level {} is {}, allowed are numbers and -inf", level, estimate));
  }
  if (!calibration_.is_on()) estimate = std::min(estimate, leaf.upper);
  estimate = std::max(estimate, leaf.lower);
  LastLeaf& last = last_leaves_[level];
  if (last.lower != leaf.lower || last.upper != leaf.upper || last.estimate != estimate) {
    last = {leaf.lower, leaf.upper, estimate, BoundValues::of_logs(leaf.lower, leaf.upper, estimate)};
  }
  node.set_values(last.values);
  return index;
}

}  // namespace treesample
