#include "search/soft_bellman.hpp"

#include <algorithm>
#include <cmath>

#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

bool is_dead(const Node& node) {
  if (!node.is_complete() || node.sum() > 0.0) return false;
  bool is_dead = true;
  for (int a = 0; a < node.num_states(); ++a) is_dead = is_dead && node.is_impossible(a);
  return is_dead;
}

// The logarithm of the sum of the weights, also where all of them are too small for a double.
double log_sum(const Node& node) {
  double most = kNegInf;
  for (int a = 0; a < node.num_states(); ++a) most = std::max(most, node.log_weight(a));
  if (most == kNegInf) return kNegInf;
  double sum = 0.0;
  for (int a = 0; a < node.num_states(); ++a) sum += std::exp(node.log_weight(a) - most);
  return most + std::log(sum);
}

double children_log_value(const NodeStore& store, int level, const NodeIndex* links) {
  const std::vector<int>& children = store.space().levels[level].children;
  double sum = 0.0;
  for (std::size_t j = 0; j < children.size() && sum != kNegInf; ++j) sum += log_value(store, children[j], links[j]);
  return sum;
}

void move_to_unit(const Node& node, std::int32_t unit) {
  const std::int64_t moved = std::int64_t{unit} - node.unit();
  node.unit() = unit;
  for (int a = 0; a < node.num_states(); ++a) {
    const double log = ScaledValue::unscaled_log(node.log_weight(a), moved);
    node.set_weight(a, std::exp(log), log);
  }
}

}  // namespace

double log_value(const NodeStore& store, int level, NodeIndex index) {
  if (index == kNoNode) return store.prior_value(level);
  const Node node = store.node(level, index);
  const double sum = node.sum();
  if (!is_out_of_range(sum)) return ScaledValue{node.unit(), sum}.log();
  return ScaledValue::scaled_log(log_sum(node), node.unit());
}

ScaledValue scaled_value_below(const NodeStore& store, std::span<const int> children, const NodeIndex* links,
                               int level_on_path) {
  ScaledValue value;
  for (std::size_t j = 0; j < children.size(); ++j) {
    if (children[j] != level_on_path) value *= scaled_value(store, children[j], links[j]);
  }
  return value;
}

double edge_reward(const NodeStore& store, int level, const Node& node, int action) {
  if (node.has_factors()) return reward_of_factor(node.factors()[action]);
  const double q = node.q(action);
  return q == kNegInf ? q : q - children_log_value(store, level, node.links(action));
}

bool is_complete(const NodeStore& store, std::span<const int> children, const NodeIndex* links) {
  bool all_complete = true;
  for (std::size_t j = 0; j < children.size(); ++j) {
    if (links[j] == kNoNode) {
      all_complete = false;
      continue;
    }
    const Node child = store.node(children[j], links[j]);
    if (!child.is_complete()) {
      all_complete = false;
    } else if (is_dead(child)) {
      return true;  // one impossible component makes the whole edge impossible
    }
  }
  return all_complete;
}

void refresh_edge(const NodeStore& store, int level, const Node& node, int action, double factor) {
  const std::vector<int>& children = store.space().levels[level].children;
  const NodeIndex* const links = node.links(action);
  ScaledValue value = scaled_value_below(store, children, links);
  value.unit -= node.unit();
  double weight = value.times(factor);
  double log_weight = std::log(weight);
  if (std::isnan(weight)) {
    const double reward = reward_of_factor(factor);
    const double q = reward == kNegInf ? kNegInf : reward + children_log_value(store, level, links);
    // A weight that is too large for a double cannot wait for the caller to rebase.
    if (ScaledValue::unscaled_log(q, node.unit()) > 600.0) move_to_unit(node, ScaledValue::unit_of_log(q));
    log_weight = ScaledValue::unscaled_log(q, node.unit());
    weight = std::exp(log_weight);
  }
  node.set_weight(action, weight, log_weight);
  if (factor == 0.0 || is_complete(store, children, links)) node.set_complete(action);
}

void rebase(const Node& node) {
  const double total = log_sum(node);
  const std::int32_t unit =
      total == kNegInf ? 0 : ScaledValue::unit_of_log(ScaledValue::scaled_log(total, node.unit()));
  move_to_unit(node, unit);
}

void set_q(const Node& node, std::span<const double> q) {
  const double total = log_sum_exp(q);
  node.unit() = total == kNegInf ? 0 : ScaledValue::unit_of_log(total);
  for (int a = 0; a < node.num_states(); ++a) {
    const double log = ScaledValue::unscaled_log(q[static_cast<std::size_t>(a)], node.unit());
    node.set_weight(a, std::exp(log), log);
  }
}

bool refresh_stale_edges(const NodeStore& store, int level, const Node& node) {
  const SearchSpace& space = store.space();
  const std::vector<int>& children = space.levels[level].children;
  bool is_changed = false;
  for (int a = 0; a < node.num_states(); ++a) {
    if (!node.is_expanded(a) || node.is_complete(a)) continue;
    const NodeIndex* const links = node.links(a);
    bool is_stale = false;
    for (std::size_t j = 0; j < children.size(); ++j) {
      if (!space.levels[children[j]].is_shared) continue;  // changes only when this node is visited
      is_stale = is_stale || store.node(children[j], links[j]).changed_at() > node.refreshed_at();
    }
    if (is_stale) refresh_edge(store, level, node, a, node.factors()[a]);
    is_changed = is_changed || is_stale;
  }
  if (is_changed && is_out_of_range(node.sum())) rebase(node);
  return is_changed;
}

void settle(const NodeStore& store) {
  const SearchSpace& space = store.space();
  for (int n = space.num_levels() - 1; n >= 0; --n) {
    if (space.levels[n].is_private_below) continue;  // never stale; else each level has its own array
    for (NodeIndex i = 0; i < store.num_in_array(n); ++i) {
      const Node node = store.node(n, i);
      for (int a = 0; a < node.num_states(); ++a) {
        if (node.is_expanded(a)) refresh_edge(store, n, node, a, node.factors()[a]);
      }
      if (is_out_of_range(node.sum())) rebase(node);
    }
  }
}

double root_log_value(const NodeStore& store) {
  const SearchSpace& space = store.space();
  double sum = space.log_constant;
  for (std::size_t r = 0; r < space.roots.size() && sum != kNegInf; ++r) {
    sum += log_value(store, space.roots[r], store.root_links()[r]);
  }
  return sum;
}

}  // namespace treesample
