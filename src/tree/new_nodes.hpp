// The new nodes of Algorithm 2, Expand: Q <- Q_phi, eta <- 0 and C <- 0.
#pragma once

#include <optional>
#include <span>

#include "tree/choices.hpp"
#include "tree/tree_store.hpp"
#include "treesample/value/leaf_value.hpp"

namespace treesample {

class NewNodes {
 public:
  // Keeps references to the first three arguments.
  NewNodes(TreeStore& store, const LeafValue& q_phi, Choices& choices, TieRule ties);

  // Creates the node of a prefix x. `expected` is the value that the edge to it promised, Q_phi - R, for leaf values
  // that use it.
  NodeIndex create(int level, std::span<const int> x, std::optional<double> expected = {}) {
    const NodeIndex index = store_.create(level);
    if (store_.has_q_phi()) {
      initialise(level, store_.node(level, index), x, expected);
    } else if (has_random_ties_) {
      choices_.choose(level, store_.node(level, index));  // all edges tie
    }
    return index;
  }

 private:
  void initialise(int level, const Node& node, std::span<const int> x, std::optional<double> expected);

  TreeStore& store_;
  const LeafValue& q_phi_;
  Choices& choices_;
  bool has_random_ties_;
};

}  // namespace treesample
