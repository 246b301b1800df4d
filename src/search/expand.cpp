// Expands a node of the search: makes its edges, and the nodes below them with their leaf values.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "search/search_state.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

// Evaluates all edges of a node. Returns false when a factor failed.
bool SearchState::expand(int level, NodeIndex index) {
  const Level& here = space_.levels[level];
  edge_rewards_.assign(here.num_states, 0.0);
  edge_magnitudes_.assign(here.num_states, 0.0);
  for (int a = 0; a < here.num_states && !failure_ && !is_free(level); ++a) {
    x_[here.variable] = a;
    if (const std::optional<double> reward = reward_.try_evaluate(level, x_, budget_)) {
      edge_rewards_[a] = *reward;
      edge_magnitudes_[a] = reward_.magnitude();
    } else {
      failure_ = reward_.failure();
    }
  }
  x_[here.variable] = -1;
  if (!failure_) add_edges(level, index);
  return !failure_;
}

// Gives a node the edges whose rewards are in edge_rewards_. Their children are new nodes, or known ones where the
// context occurred before.
void SearchState::add_edges(int level, NodeIndex index) {
  const Level& here = space_.levels[level];
  BoundNode& node = store_->node(level, index);
  store_->create_expansion(level, node);
  const Expansion expansion = store_->expansion(level, node);
  if (rule_->looks_at_q_phi()) leaves_.estimate->q_values(level, x_, 1, expansion.q_phi());
  leaf_rows_.resize(std::max(leaf_rows_.size(), here.children.size()));
  for (LeafRow& row : leaf_rows_) row.is_known = false;
  for (int a = 0; a < here.num_states; ++a) {
    x_[here.variable] = a;
    const double reward = edge_rewards_[a];
    expansion.set_reward(a, reward);
    edges_.see_reward(level, reward, edge_magnitudes_[a]);
    has_zeros_ = has_zeros_ || reward == kNegInf;
    if (!here.factors.empty()) calibration_.add(level, reward);  // an empty sum carries no information
    for (std::size_t j = 0; j < here.children.size() && reward != kNegInf; ++j) {
      expansion.links(a)[j] = child_node(here, j);
    }
  }
  x_[here.variable] = -1;
}

// The node of a child level below the edge in x_.
NodeIndex SearchState::child_node(const Level& here, std::size_t child) {
  const int level = here.children[child];
  if (!space_.levels[level].is_shared) return create_node(level, leaf_of(here, child));
  NodeIndex& known = store_->find_or_insert(level, x_);
  if (known == kNoNode) known = create_node(level, leaf_of(here, child));
  return known;
}

// The leaf values of a child level. Those of a node's edges share most look-ups, so all are made when one is needed; a
// network then gets one question instead of several. Learned estimates are asked one by one, because they change from
// edge to edge.
SearchState::Leaf SearchState::leaf_of(const Level& here, std::size_t child) {
  LeafRow& row = leaf_rows_[child];
  const int level = here.children[child];
  const int action = x_[here.variable];
  if (!row.is_known) {
    row.lower.assign(here.num_states, kNegInf);
    row.upper.assign(here.num_states, kInf);
    if (leaves_.upper) leaves_.upper->log_values(level, here.variable, x_, row.upper);
    if (leaves_.lower && !is_exact_leaf(level)) leaves_.lower->log_values(level, here.variable, x_, row.lower);
    row.estimate.clear();
    if (leaves_.estimate && !calibration_.is_on()) {
      row.estimate.resize(here.num_states);
      leaves_.estimate->log_values(level, here.variable, x_, row.estimate);
    }
    x_[here.variable] = action;
    row.is_known = true;
  }
  Leaf leaf{row.lower[action], row.upper[action]};
  if (!row.estimate.empty()) leaf.estimate = row.estimate[action];
  return leaf;
}

// Creates a node with these leaf values.
NodeIndex SearchState::create_node(int level, Leaf leaf) {
  const NodeIndex index = store_->create_node(level);
  BoundNode& node = store_->node(level, index);
  node.is_complete = is_exact_leaf(level) || leaf.upper == kNegInf;
  if (leaf.upper == kNegInf) {
    leaf.lower = kNegInf;
  } else if (leaves_.lower_bound) {
    leaf.lower = std::max(leaf.lower, leaves_.lower_bound(level, x_));
  }
  double estimate = leaf.upper;
  if (leaves_.estimate && !node.is_complete) {
    estimate = leaf.estimate ? *leaf.estimate : leaves_.estimate->log_value(level, x_);
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
