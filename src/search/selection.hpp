// Alg. 2, Q-UCT: which edge the next traversal takes at a node, and at all nodes of a path at once.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "search/search_path.hpp"
#include "treesample/math/random.hpp"
#include "treesample/search/tree_sample.hpp"

namespace treesample {

class Selection {
 public:
  Selection(const NodeStore& store, const SearchOptions& options);

  // The AND rule: of the independent components below an edge, the incomplete one with the fewest visits;
  // -1 when there is nothing left to do.
  [[nodiscard]] int choose_component(std::span<const int> levels, const NodeIndex* links) const;

  // Sets the choice to the argmax of eq. 8 over the incomplete edges; to kNoChoice when there is none.
  void choose(int level, const Node& node);

  // The same for all nodes of a path at once, after set_node for each of its positions.
  void choose_all(std::span<const Step> path);

  // Copies and nothing else: converting visits and testing flags here, edge by edge, was a fifth of the
  // whole search. `num_states` is the node's, as a constant where it is known.
  template <class NumStates>
  void set_node(std::size_t position, const Step& step, NumStates num_states) {
    if (num_states > num_rows_) return;  // left to choose
    const double* const weights = step.node.weights();
    const std::uint32_t* const edges = step.node.edges();
    Block& block = blocks_[position / kColumns];
    const std::size_t column = position % kColumns;
    for (int a = 0; a < num_states; ++a) {
      block.weights[a][column] = weights[a];
      block.edges[a][column] = edges[a];
    }
    for (int a = num_states; a < num_rows_; ++a) block.edges[a][column] = Node::kComplete;
    for (int a = 0; a < num_states; ++a) block.scales[a][column] = level_scales_[step.level];
    if (store_.has_prior()) set_prior_scales(block, column, step.node);
  }

  // Nodes of a path side by side: a row per action, a column per node. The best actions are then found
  // several at a time and without a branch; taken node by node, that branch cannot be predicted and
  // cost more than the logarithms. All numbers have 64 bits, so that vectors need no shuffling.
  static constexpr int kColumns = 8;
  static constexpr int kMostRows = 8;  // nodes with more states are scored one by one
  struct Block {
    double weights[kMostRows][kColumns];
    std::uint64_t edges[kMostRows][kColumns];  // eta(x o a) and flags
    double scales[kMostRows][kColumns];        // c max(Q_phi, epsilon)
  };

 private:
  [[nodiscard]] bool is_usual(const Node& node) const;
  void set_prior_scales(Block& block, std::size_t column, const Node& node) const {
    for (int a = 0; a < node.num_states(); ++a) block.scales[a][column] = c_ * std::max(node.priors()[a], epsilon_);
  }

  const NodeStore& store_;
  double c_, epsilon_;
  TieRule tie_rule_;
  Random ties_;
  std::vector<double> level_scales_;  // c max(Q_phi, epsilon) for a uniform prior
  std::vector<double> q_;             // of one node
  int num_rows_ = 0;
  bool has_wide_nodes_ = false;
  std::vector<Block> blocks_;
  std::vector<double> choices_;  // per column of all blocks
};

}  // namespace treesample
