// The part of a search's nodes that holds most of the probability, as a tree for people to look at.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "treesample/math/log_bounds.hpp"

namespace treesample {

// A sub-problem that several edges lead to appears once for each of them.
struct ExploredTree {
  struct Edge {
    int state = 0;
    double q = 0.0;            // Q(a) in nats, for the sampler that the search ended with
    double probability = 0.0;  // of the state at this node
    std::int64_t visits = 0;
    LogBounds bounds;               // of Q(a); infinite if the search has none
    bool is_evaluated = false;      // if false, Q is only a leaf value
    std::vector<int> children;      // nodes below, as positions in `nodes`
    int num_children_left_out = 0;  // children in the search that are not here
  };
  struct Node {
    int variable = 0;   // -1: a variable that was added for a joint query
    double mass = 0.0;  // the probability that a sample reaches this node
    std::vector<Edge> edges;
    int num_edges_left_out = 0;  // the least probable ones
  };
  std::vector<Node> nodes;  // by mass, largest first
  std::vector<int> roots;
  std::uint64_t num_nodes_searched = 0;  // in the store

  // Translates variables and states to those of the model from which this one's model was made. to_outer(variable,
  // state) returns them, with variable -1 if there is none.
  void rename(const std::function<std::pair<int, int>(int, int)>& to_outer);
};

}  // namespace treesample
