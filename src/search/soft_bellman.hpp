// Values over a store: the soft-Bellman equation (eq. 7) for single edges and for whole stores.
#pragma once

#include "search/node_store.hpp"

namespace treesample {

// V of a child; where it has no block yet, the value of the uniform prior, log K + log_states_below.
double log_value(const NodeStore& store, int level, NodeIndex index);

// Q(a) = R + sum of V over the children for an expanded edge, Q_phi(a) for any other.
double edge_log_value(const NodeStore& store, int level, const Node& node, int action);

// Brings weight and complete flag of an expanded edge up to date with its children. An edge is
// complete when R = -inf, when one child is proved impossible, or when all children are complete.
// The sum of the weights may leave its range: the caller then rebases.
void refresh_edge(const NodeStore& store, int level, const Node& node, int action);

// Moves log_scale to the node's value, which brings the sum of the weights back to about 1.
void rebase(const NodeStore& store, int level, const Node& node);
// Must log_scale move? The bounds leave room for products of a weight and a sum.
inline bool is_out_of_range(double sum) { return !(sum > 1e-100 && sum < 1e100); }

// Brings all edges of a node up to date with its children.
void refresh(const NodeStore& store, int level, const Node& node);

// Children before parents: makes every value of the store consistent. Needed where nodes are shared,
// because a traversal refreshes only its own path.
void settle(const NodeStore& store);

// log Z as the store sees it: the value of the virtual edge above the roots.
double root_log_value(const NodeStore& store);

// True when nothing below the links of an AND edge is left to evaluate.
bool is_complete(const NodeStore& store, std::span<const int> children, const NodeIndex* links);

}  // namespace treesample
