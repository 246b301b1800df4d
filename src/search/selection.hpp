// Alg. 2, Q-UCT: which edge the next traversal takes at a node, and at all nodes of a path at once.
#pragma once

#include <span>
#include <vector>

#include "search/node_store.hpp"
#include "treesample/math/random.hpp"
#include "treesample/math/vector_math.hpp"
#include "treesample/search/tree_sample.hpp"

namespace treesample {

// One edge of the path from a root to the expansion.
struct Step {
  Node node;
  int level;
  int action;
};

class Selection {
 public:
  Selection(const NodeStore& store, const SearchOptions& options);

  // Sets choice() to the argmax of eq. 8 over the incomplete edges, of which there is at least one.
  void choose(int level, const Node& node);

  // The same for a whole path, where the logarithms of all nodes are taken together: set_node for every
  // position as the traversal comes by, set_edge for what the backup changes, then choose_all. Complete
  // nodes get some choice, which nobody asks for.
  void set_node(std::size_t position, int level, const Node& node) {
    with_num_states(node.num_states(), [&](auto num_states) { set_edges(position, level, node, num_states); });
  }
  void set_edge(std::size_t position, const Node& node, int action) {
    if (action >= path_.num_rows) return;
    path_.weights[action * path_.stride + position] = node.weights()[action];
    path_.edges[action * path_.stride + position] = node.edges()[action];
  }
  void choose_all(std::span<const Step> path);

  // The nodes of a path side by side: a row per action, a column per node. The best actions are then
  // found several at a time and without a branch; taken node by node, that branch cannot be predicted
  // and cost more than the logarithms. All numbers have 64 bits, so that vectors need no shuffling.
  struct Matrix {
    int num_rows = 0;
    std::size_t num_columns = 0;  // in use, a multiple of 8
    std::size_t stride = 0;       // from row to row
    std::vector<double> weights;
    std::vector<std::uint64_t> edges;  // eta(x o a) and flags
    std::vector<double> scales;        // c max(Q_phi, epsilon), per node
    std::vector<double> choices;       // per node
  };
  static constexpr int kMostRows = 8;  // nodes with more states are scored one by one

 private:
  // Copies and nothing else: converting visits and testing flags here, edge by edge, was a fifth of the
  // whole search.
  template <class NumStates>
  void set_edges(std::size_t position, int level, const Node& node, NumStates num_states) {
    if (num_states > path_.num_rows) return;  // left to choose
    const double* const weights = node.weights();
    const std::uint32_t* const edges = node.edges();
    double* const weight_column = &path_.weights[position];
    std::uint64_t* const edge_column = &path_.edges[position];
    for (int a = 0; a < num_states; ++a) {
      weight_column[a * path_.stride] = weights[a];
      edge_column[a * path_.stride] = edges[a];
    }
    for (int a = num_states; a < path_.num_rows; ++a) edge_column[a * path_.stride] = Node::kComplete;
    path_.scales[position] = level_scales_[level];
  }
  [[nodiscard]] bool is_usual(const Node& node) const;

  const NodeStore& store_;
  double c_, epsilon_;
  TieRule tie_rule_;
  Random ties_;
  std::vector<double> level_scales_;  // c max(Q_phi, epsilon) for a uniform prior
  std::vector<double> q_;             // of one node

  bool has_wide_nodes_ = false;
  Matrix path_;
};

}  // namespace treesample
