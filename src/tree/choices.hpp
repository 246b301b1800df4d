// Alg. 2, Q-UCT (eq. 7): which edge the next traversal takes at a node, and at all nodes of a path at once.
//
//   arg max over the incomplete edges a of Q(a) + c max(Q_phi(a), epsilon) sqrt(eta(x)) / (1 + eta(x o a))
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "tree/tree_path.hpp"
#include "treesample/math/random.hpp"
#include "treesample/tree/tree_sample.hpp"

namespace treesample {

// eq. 7 with bonus = c max(Q_phi(a), epsilon) sqrt(eta(x)) and share = 1 / (1 + eta(x o a)).
inline double q_uct(double q, double bonus, double share) { return q + bonus * share; }

class Choices {
 public:
  Choices(const TreeStore& store, const TreeSearchOptions& options);

  // Sets the choice to the argmax of eq. 7 over the incomplete edges, or to kNoChoice if there are none.
  void choose(int level, const Node& node);

  // The same for all nodes of a path at once, after set_node and set_edge for each of its positions. Also gives the
  // nodes the logarithms of the weights that the path changed.
  template <class NodeView>
  void choose_all(std::span<const Step<NodeView>> path) {
    if (tie_rule_ == TieRule::kLowest) score(path.size());
    if (has_unusual_) {
      has_unusual_ = is_always_unusual_;
      for (std::size_t i = 0; i < path.size(); ++i) choose_slowly(i, path[i].level, path[i].node.any(), path[i].action);
      return;
    }
    const std::uint64_t* const choices = choices_.data();
    const double* const log_weights = log_weights_.data();
    for (std::size_t i = 0; i < path.size(); ++i) {
      const NodeView& node = path[i].node;
      if (node.has_logs()) node.stored_logs()[path[i].action] = log_weights[i];
      node.set_small_choice(choices[i]);
    }
  }

  // Copies the node before a backup changes it, because later loads would wait for the stores. It only copies:
  // converting visits and testing flags here, edge by edge, took a fifth of the whole search.
  template <class NodeView>
  void set_node(std::size_t position, const Step<NodeView>& step) {
    const NodeView& node = step.node;
    const int num_states = node.num_states();
    if (!fits(node)) return;  // choose() handles it
    const double* const values = node.has_logs() ? node.stored_logs() : node.stored_weights();
    const std::uint32_t* const edges = node.edges();
    Block& block = blocks_[position / kColumns];
    const std::size_t column = position % kColumns;
    for (int a = 0; a < num_states; ++a) {
      block.values[a][column] = values[a];
      block.edges[a][column] = edges[a];
    }
    if (NodeView::kNumStates == 0) {
      for (int a = num_states; a < num_rows_; ++a) block.edges[a][column] = Node::kComplete;
    }
    block.scales[0][column] = level_scales_[step.level];
    if (has_q_phi_) set_q_phi_scales(block, column, node.any());
  }

  // Notes what the backup changed: the edge's weight and its word of visits and flags.
  template <class NodeView>
  void set_edge(std::size_t position, const Step<NodeView>& step, double weight) {
    const NodeView& node = step.node;
    if (!fits(node)) return;
    Block& block = blocks_[position / kColumns];
    const std::size_t column = position % kColumns;
    (node.has_logs() ? block.changed : block.values[step.action])[column] = weight;
    block.edges[step.action][column] = node.edges()[step.action] | kOnPath;
  }
  // set_node and set_edge in one, for a node that was repaired: such a node has the logarithms of its weights, even of
  // those below kLeastWeight.
  void set_repaired_edge(std::size_t position, const Step<Node>& step);

  // The nodes of a path as a matrix, with a row per action and a column per node. The best actions are then found
  // several at a time and without a branch. Done node by node, that branch could not be predicted and cost more than
  // the logarithms. All numbers have 64 bits, so that vectors need no shuffling.
  static constexpr int kColumns = 8;
  static constexpr int kMostRows = 8;  // nodes with more states are scored one by one
  struct Block {
    double values[kMostRows][kColumns];        // logarithms of the weights; in binary stores, stored weights
    double changed[kColumns];                  // if there are logarithms: weight of the path's edge (kOnPath)
    std::uint64_t edges[kMostRows][kColumns];  // eta(x o a) and flags
    double scales[kMostRows][kColumns];        // c max(Q_phi, epsilon); for a uniform Q_phi only the first row
  };
  static constexpr std::uint64_t kOnPath = std::uint64_t{1} << 63;

 private:
  template <class NodeView>
  [[nodiscard]] bool fits(const NodeView& node) const {
    return NodeView::kNumStates > 0 || node.num_states() <= num_rows_;
  }
  void score(std::size_t length);
  void choose_slowly(std::size_t position, int level, const Node& node, int action);
  void set_q_phi_scales(Block& block, std::size_t column, const Node& node);

  const TreeStore& store_;
  double c_, epsilon_;
  TieRule tie_rule_;
  Random ties_;
  std::vector<double> level_scales_;  // c max(Q_phi, epsilon) for a uniform Q_phi
  std::vector<double> q_;             // of one node
  int num_rows_ = 0;
  bool has_q_phi_;
  bool is_scaled_by_q_phi_ = false;
  bool is_always_unusual_ = false;
  bool has_unusual_ = false;  // true if the path may have a node that does not fit into a column
  std::vector<Block> blocks_;
  std::vector<std::uint64_t> choices_;  // per column of all blocks
  std::vector<double> log_weights_;
};

}  // namespace treesample
