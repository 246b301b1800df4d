#include "tree/values.hpp"

#include <algorithm>
#include <cmath>

#include "math/reward_factor.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// The logarithm of the sum of the weights, even if all of them are too small for a double.
double log_sum(const Node& node) {
  double most = kNegInf;
  for (int a = 0; a < node.num_states(); ++a) most = std::max(most, node.log_weight(a));
  if (most == kNegInf) return kNegInf;
  double sum = 0.0;
  for (int a = 0; a < node.num_states(); ++a) sum += std::exp(node.log_weight(a) - most);
  return most + std::log(sum);
}

void move_to_unit(const Node& node, std::int32_t unit) {
  const std::int64_t moved = std::int64_t{unit} - node.unit();
  node.unit() = unit;
  for (int a = 0; a < node.num_states(); ++a) {
    const double log = TreeNumber::log_in_unit(node.log_weight(a), moved);
    node.set_weight(a, std::exp(log), log);
  }
}

}  // namespace

double log_value(const TreeStore& store, int level, NodeIndex index) {
  if (level == store.space().num_levels()) return 0.0;
  if (index == kNoNode) return store.uniform_value(level);
  const Node node = store.node(level, index);
  const double sum = node.sum();
  return TreeNumber::log_from_unit(is_out_of_range(sum) ? log_sum(node) : std::log(sum), node.unit());
}

double edge_reward(const TreeStore& store, int level, const Node& node, int action) {
  if (node.has_factors()) return reward_of_factor(node.factors()[action]);
  const double q = node.q(action);
  return q == kNegInf ? q : q - log_value(store, level + 1, node.link(action));
}

void set_edge_value(const TreeStore& store, int level, const Node& node, int action, double factor) {
  double weight = weight_in_unit(factor, value_of(store, level + 1, node.link(action)), node.unit());
  double log_weight = std::log(weight);
  if (std::isnan(weight)) {
    const double reward = reward_of_factor(factor);
    const double q = reward == kNegInf ? kNegInf : reward + log_value(store, level + 1, node.link(action));
    // A weight that is too large for a double must change the unit here, before the caller can rebase.
    if (TreeNumber::log_in_unit(q, node.unit()) > 600.0) move_to_unit(node, tree_unit_of(q));
    log_weight = TreeNumber::log_in_unit(q, node.unit());
    weight = std::exp(log_weight);
  }
  node.set_weight(action, weight, log_weight);
}

void rebase(const Node& node) {
  const double total = log_sum(node);
  const std::int32_t unit = total == kNegInf ? 0 : tree_unit_of(TreeNumber::log_from_unit(total, node.unit()));
  move_to_unit(node, unit);
}

void set_q(const Node& node, std::span<const double> q) {
  const double total = log_sum_exp(q);
  node.unit() = total == kNegInf ? 0 : tree_unit_of(total);
  for (int a = 0; a < node.num_states(); ++a) {
    const double log = TreeNumber::log_in_unit(q[static_cast<std::size_t>(a)], node.unit());
    node.set_weight(a, std::exp(log), log);
  }
}

double root_log_value(const TreeStore& store) {
  const SearchSpace& space = store.space();
  return space.log_constant == kNegInf ? kNegInf : space.log_constant + log_value(store, 0, store.root());
}

bool is_solved(const TreeStore& store) {
  const SearchSpace& space = store.space();
  if (space.log_constant == kNegInf || space.num_levels() == 0) return true;
  return store.root() != kNoNode && store.node(0, store.root()).is_complete();
}

}  // namespace treesample
