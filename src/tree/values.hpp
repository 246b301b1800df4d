// Values over a store: the soft-Bellman equation (eq. 6) for single edges.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "tree/tree_store.hpp"

namespace treesample {

// V of the node that an edge of the previous level leads to. A node without a block has the value of the uniform Q_phi.
// Below the last level V = 0.
inline TreeNumber value_of(const TreeStore& store, int level, NodeIndex index) {
  if (level == store.space().num_levels()) return {1.0, 0};
  if (index == kNoNode) return store.uniform_number(level);
  const Node node = store.node(level, index);
  return {node.sum(), node.unit()};
}
double log_value(const TreeStore& store, int level, NodeIndex index);

// For sum_of_others: masks that keep all numbers except the one in the middle.
inline constexpr int kMostMasked = 8;
inline constexpr std::uint64_t kAll = ~std::uint64_t{0};
inline constexpr std::uint64_t kAllButOne[] = {kAll, kAll, kAll, kAll, kAll, kAll, kAll, 0,
                                               kAll, kAll, kAll, kAll, kAll, kAll, kAll};

// The sum of the weights except the action's own. It uses masks, because the processor can predict neither a branch nor
// a store that depends on the action.
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

// R of an expanded edge: log of the factor or, if the node does not keep it, Q(a) minus the child's value.
double edge_reward(const TreeStore& store, int level, const Node& node, int action);

// Sets Q(a) = R + V and its weight for an expanded edge with factor = exp(R), by logarithms if the product leaves the
// range of a double. The sum of the weights may leave its range too; the caller then rebases.
void set_edge_value(const TreeStore& store, int level, const Node& node, int action, double factor);

// Changes the node's unit to fit its value: the sum of the weights is then between 2^-128 and 2^128.
void rebase(const Node& node);

// Gives the node the values q, which are those of Q_phi.
void set_q(const Node& node, std::span<const double> q);

// log Z according to the store: V(root) plus the constant.
double root_log_value(const TreeStore& store);

// Is nothing left to evaluate?
bool is_solved(const TreeStore& store);

}  // namespace treesample
