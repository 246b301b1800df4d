// Compares the tree of the tree search with that of the literal transcription.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "examples/literal_tree_sample.hpp"
#include "tree/tree_store.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample::testing {

// Empty if visits, values and complete flags agree node by node; otherwise the first difference. With a uniform Q_phi,
// a node that was visited once has no block in the tree search.
template <class Tree>
std::string difference(const TreeStore& store, const Tree& tree) {
  const int num_levels = store.space().num_levels();
  std::uint64_t num_visited = 0;
  for (const auto& [prefix, expected] : tree) {
    const bool is_visited =
        std::any_of(expected.eta.begin(), expected.eta.end(), [](std::uint32_t eta) { return eta > 0; });
    const bool has_block = is_visited || (store.has_q_phi() && static_cast<int>(prefix.size()) < num_levels);
    NodeIndex index = store.root();
    for (int n = 0; n < static_cast<int>(prefix.size()) && index != kNoNode; ++n) {
      index = n + 1 < num_levels ? store.node(n, index).link(prefix[n]) : kNoNode;
    }
    const bool is_dead = expected.reward == kNegInf;  // has no block, and no children
    if ((index != kNoNode) != (has_block && !is_dead)) return fmt::format("existence of node {}", prefix);
    if (index == kNoNode) continue;
    ++num_visited;
    const int level = static_cast<int>(prefix.size());
    const Node node = store.node(level, index);
    for (int a = 0; a < node.num_states(); ++a) {
      if (node.visits(a) != expected.eta[a]) return fmt::format("visits of {} at node {}", a, prefix);
      if (node.is_complete(a) != expected.complete[a]) return fmt::format("complete flag of {} at node {}", a, prefix);
      const double value = node.q(a);
      const bool is_equal = value == expected.q[a] || std::abs(value - expected.q[a]) < 1e-9;
      const double weight = node.weight(a);
      const bool is_weight_equal =
          weight < 1e-300 || std::abs(TreeNumber::log_from_unit(std::log(weight), node.unit()) - expected.q[a]) < 1e-9;
      if (!is_equal || !is_weight_equal) return fmt::format("value of {} at node {}", a, prefix);
    }
  }
  return store.num_nodes() == num_visited ? "" : "number of nodes";
}

}  // namespace treesample::testing
