#include "search/soft_bellman.hpp"

#include <cmath>

#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

bool is_dead(const Node& node) { return node.is_complete() && node.sum() == 0.0; }

// The weight of an edge of this value.
double unscaled_exp(double value, const Node& node) {
  return std::exp(ScaledValue::unscaled_log(value, node.exponent()));
}

}  // namespace

double log_value(const NodeStore& store, int level, NodeIndex index) {
  if (index == kNoNode) return store.prior_value(level);
  const Node node = store.node(level, index);
  const double sum = node.sum();
  return sum > 0.0 ? ScaledValue{node.exponent(), sum}.log() : kNegInf;
}

double edge_log_value(const NodeStore& store, int level, const Node& node, int action) {
  const Level& here = store.space().levels[level];
  if (!node.is_expanded(action)) return store.has_prior() ? node.priors()[action] : here.log_states_below;
  double sum = node.reward(action);
  const NodeIndex* const links = node.links(action);
  for (std::size_t j = 0; j < here.children.size() && sum != kNegInf; ++j) {
    sum += log_value(store, here.children[j], links[j]);
  }
  return sum;
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

void refresh_edge(const NodeStore& store, int level, const Node& node, int action) {
  const std::vector<int>& children = store.space().levels[level].children;
  const NodeIndex* const links = node.links(action);
  ScaledValue value{-node.exponent(), 1.0};
  for (std::size_t j = 0; j < children.size(); ++j) value *= scaled_value(store, children[j], links[j]);
  double weight = value.times(node.factors()[action]);
  if (std::isnan(weight)) weight = unscaled_exp(edge_log_value(store, level, node, action), node);
  node.weights()[action] = weight;
  if (node.factors()[action] == 0.0 || is_complete(store, children, links)) node.set_complete(action);
}

void rebase(const NodeStore& store, int level, const Node& node) {
  std::vector<double> values(node.num_states());
  for (int a = 0; a < node.num_states(); ++a) values[a] = edge_log_value(store, level, node, a);
  const double total = log_sum_exp(values);
  node.exponent() = total == kNegInf ? 0.0 : ScaledValue::exponent_of_log(total);
  for (int a = 0; a < node.num_states(); ++a) node.weights()[a] = unscaled_exp(values[a], node);
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
    if (is_stale) refresh_edge(store, level, node, a);
    is_changed = is_changed || is_stale;
  }
  if (is_changed && is_out_of_range(node.sum())) rebase(store, level, node);
  return is_changed;
}

void settle(const NodeStore& store) {
  const SearchSpace& space = store.space();
  for (int n = space.num_levels() - 1; n >= 0; --n) {
    if (space.levels[n].is_private_below) continue;  // never stale
    for (NodeIndex i = 0; i < store.num_nodes(n); ++i) {
      const Node node = store.node(n, i);
      for (int a = 0; a < node.num_states(); ++a) {
        if (node.is_expanded(a)) refresh_edge(store, n, node, a);
      }
      if (is_out_of_range(node.sum())) rebase(store, n, node);
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
