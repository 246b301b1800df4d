// Alg. 2, Q-UCT, for all nodes of a path at once: which edge the next traversal takes at each of them.
#pragma once

#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "search/node_store.hpp"
#include "search/q_uct.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/search/tree_sample.hpp"

namespace treesample {

// Calls f with the number of states, as a constant for the usual ones: loops over them then unroll.
template <class F>
inline void with_num_states(int num_states, F&& f) {
  switch (num_states) {
    case 2:
      return f(std::integral_constant<int, 2>());
    case 3:
      return f(std::integral_constant<int, 3>());
    case 4:
      return f(std::integral_constant<int, 4>());
    case 5:
      return f(std::integral_constant<int, 5>());
    default:
      return f(num_states);
  }
}

class Selection {
 public:
  Selection(const NodeStore& store, const SearchOptions& options);

  // Queues an incomplete node; at most one per level.
  void add(int level, const Node& node) {
    nodes_[num_nodes_++] = node;
    with_num_states(node.num_states(), [&](auto num_states) { add_edges(level, node, num_states); });
  }
  // Sets choice() of the queued nodes to the argmax of eq. 8 over their incomplete edges, and empties
  // the queue. Scores of all edges are computed together, without branches, so that they vectorise.
  void choose();

 private:
  template <class NumStates>
  void add_edges(int level, const Node& node, NumStates num_states) {
    double* const scores = &scores_[num_edges_];
    double* const bonuses = &bonuses_[num_edges_];
    double* const denominators = &denominators_[num_edges_];
    std::int64_t node_visits = 1;  // the visit that created the node, then one per edge visit
    for (int a = 0; a < num_states; ++a) node_visits += node.visits(a);
    const double bonus = bonus_[level] * std::sqrt(static_cast<double>(node_visits));
    double least = 1.0;
    for (int a = 0; a < num_states; ++a) {
      scores[a] = node.weights()[a];
      least = scores[a] < least ? scores[a] : least;
      denominators[a] = 1.0 + static_cast<double>(static_cast<std::int32_t>(node.visits(a)));
      bonuses[a] = node.is_complete(a) ? kNegInf : bonus;
    }
    if (store_.has_prior() || least < kLeastWeight) adjust_edges(level, node);
    num_edges_ += num_states;
  }
  void adjust_edges(int level, const Node& node);
  template <class NumStates>
  [[nodiscard]] int best_action(const double* scores, NumStates num_states);

  // Below this a weight has lost bits; its logarithm is then taken from the edge itself.
  static constexpr double kLeastWeight = 1e-300;

  const NodeStore& store_;
  double c_, epsilon_;
  TieRule tie_rule_;
  Random ties_;
  std::vector<double> bonus_;  // c max(Q_phi, epsilon) per level, for a uniform prior
  std::vector<Node> nodes_;
  std::size_t num_nodes_ = 0;
  std::size_t num_edges_ = 0;
  std::vector<double> scores_;                        // weights, then their logarithms Q - E, then scores
  std::vector<double> bonuses_;                       // c max(Q_phi, epsilon) sqrt(eta(x)); -inf for a complete edge
  std::vector<double> denominators_;                  // 1 + eta(x o a)
  std::vector<std::pair<std::size_t, double>> tiny_;  // edges whose weight lost bits, with Q - E
};

}  // namespace treesample
