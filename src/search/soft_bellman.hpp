// Values over a store: the soft-Bellman equation (eq. 7) for single edges and for whole stores.
#pragma once

#include "search/node_store.hpp"

namespace treesample {

// V of a child; where it has no block yet, that of the uniform prior.
inline ScaledValue scaled_value(const NodeStore& store, int level, NodeIndex index) {
  if (index == kNoNode) return store.scaled_prior_value(level);
  const Node node = store.node(level, index);
  return {node.exponent(), node.sum()};
}
double log_value(const NodeStore& store, int level, NodeIndex index);

// Q(a) = R + sum of V over the children for an expanded edge, Q_phi(a) for any other.
double edge_log_value(const NodeStore& store, int level, const Node& node, int action);

// Brings weight and complete flag of an expanded edge up to date with its children. An edge is
// complete when R = -inf, when one child is proved impossible, or when all children are complete.
// The sum of the weights may leave its range: the caller then rebases.
void refresh_edge(const NodeStore& store, int level, const Node& node, int action);

// Moves the exponent to the node's value, which brings the sum of the weights back to about 1.
void rebase(const NodeStore& store, int level, const Node& node);

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
