// Alg. 2, Q-UCT, for all nodes of a path at once: which edge the next traversal takes at each of them.
#pragma once

#include <vector>

#include "search/node_store.hpp"
#include "treesample/math/random.hpp"
#include "treesample/search/tree_sample.hpp"

namespace treesample {

class Selection {
 public:
  Selection(const NodeStore& store, const SearchOptions& options);

  // Queues an incomplete node.
  void add(int level, const Node& node);
  // Sets choice() of the queued nodes to the argmax of eq. 8 over their incomplete edges, and empties
  // the queue. Scores of all edges are computed together, without branches, so that they vectorise.
  void choose();

 private:
  struct Entry {
    Node node;
    std::size_t first;  // of its edges in the arrays below
  };
  template <int kStates>
  void add_edges(int level, const Node& node);
  int best_action(const double* scores, int count);

  const NodeStore& store_;
  double c_, epsilon_;
  TieRule tie_rule_;
  Random ties_;
  std::vector<double> bonus_;  // c max(Q_phi, epsilon) per level, for a uniform prior
  std::vector<Entry> entries_;
  std::size_t num_edges_ = 0;
  std::vector<double> scores_;                        // weights, then their logarithms Q - E, then scores
  std::vector<double> bonuses_;                       // c max(Q_phi, epsilon) sqrt(eta(x)); -inf for a complete edge
  std::vector<double> denominators_;                  // 1 + eta(x o a)
  std::vector<std::pair<std::size_t, double>> tiny_;  // edges whose weight lost bits, with Q - E
};

}  // namespace treesample
