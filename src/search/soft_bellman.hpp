// Values over a store: the soft-Bellman equation (eq. 7) for single edges and for whole stores.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "search/node_store.hpp"

namespace treesample {

// V of a child; where it has no block yet, that of the uniform prior.
inline ScaledValue scaled_value(const NodeStore& store, int level, NodeIndex index) {
  if (index == kNoNode) return store.scaled_prior_value(level);
  const Node node = store.node(level, index);
  return {node.unit(), node.sum()};
}
double log_value(const NodeStore& store, int level, NodeIndex index);

// The product of V over the children of an edge but the one at `level_on_path`.
ScaledValue scaled_value_below(const NodeStore& store, std::span<const int> children, const NodeIndex* links,
                               int level_on_path = -1);

// For sum_of_others: masks that let all numbers pass but that in the middle.
inline constexpr int kMostMasked = 8;
inline constexpr std::uint64_t kAll = ~std::uint64_t{0};
inline constexpr std::uint64_t kAllButOne[] = {kAll, kAll, kAll, kAll, kAll, kAll, kAll, 0,
                                               kAll, kAll, kAll, kAll, kAll, kAll, kAll};

// The sum of the weights but the action's own. By masks: what the action decides, neither a branch nor a store, can the
// processor foresee.
template <class Shape>
double sum_of_others(const BasicNode<Shape>& node, int action) {
  if (node.num_states() == 2) return node.weight(1 - action);
  double sum = 0.0;
  if (!node.has_logs() || node.num_states() > kMostMasked) {
    for (int a = 0; a < node.num_states(); ++a) sum += a == action ? 0.0 : node.weight(a);
    return sum;
  }
  const double* const weights = node.stored_weights();
  const std::uint64_t* const masks = kAllButOne + (kMostMasked - 1 - action);
  for (int a = 0; a < node.num_states(); ++a) {
    sum += std::bit_cast<double>(std::bit_cast<std::uint64_t>(weights[a]) & masks[a]);
  }
  return sum;
}

// R of an expanded edge: log of the factor or, where the node does not keep it, Q(a) less the children's values.
double edge_reward(const NodeStore& store, int level, const Node& node, int action);

// Brings Q(a) = R + sum of V over the children, its weight and the complete flag of an expanded edge with factor =
// exp(R) up to date with its children. An edge is complete when R = -inf, when one child is proved impossible, or when
// all children are complete. The sum of the weights may leave its range: the caller then rebases.
void refresh_edge(const NodeStore& store, int level, const Node& node, int action, double factor);

// Moves the unit to the node's value, which brings the sum of the weights to between 2^-128 and 2^128.
void rebase(const Node& node);

// Gives the node these values, the prior's.
void set_q(const Node& node, std::span<const double> q);

// Refreshes the edges with a shared child that changed, by another path, after the node was refreshed.
// True when there was one. Only for levels with shared children.
bool refresh_stale_edges(const NodeStore& store, int level, const Node& node);

// Children before parents: makes every value of the store consistent. Needed where nodes are shared,
// because a traversal refreshes only its own path.
void settle(const NodeStore& store);

// log Z as the store sees it: the value of the virtual edge above the roots.
double root_log_value(const NodeStore& store);

// True when nothing below the links of an AND edge is left to evaluate.
bool is_complete(const NodeStore& store, std::span<const int> children, const NodeIndex* links);

}  // namespace treesample
