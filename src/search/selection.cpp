#include "search/selection.hpp"

#include <algorithm>

#include "search/soft_bellman.hpp"
#include "treesample/math/vector_math.hpp"

namespace treesample {

Selection::Selection(const NodeStore& store, const SearchOptions& options)
    : store_(store),
      c_(options.c),
      epsilon_(options.epsilon),
      tie_rule_(options.ties),
      ties_(options.seed, "ties"),
      nodes_(std::max<std::size_t>(store.space().levels.size(), 1)) {
  std::size_t most_edges = 0;
  for (const Level& level : store.space().levels) {
    bonus_.push_back(c_ * std::max(level.log_states_below, epsilon_));
    most_edges += level.num_states;
  }
  scores_.assign(padded(most_edges), 1.0);
  bonuses_.assign(padded(most_edges), 0.0);
  denominators_.assign(padded(most_edges), 1.0);
}

// What is different with a prior per edge, and with weights too small for their logarithm.
void Selection::adjust_edges(int level, const Node& node) {
  double node_visits = 1.0;
  for (int a = 0; a < node.num_states(); ++a) node_visits += node.visits(a);
  for (int a = 0; a < node.num_states(); ++a) {
    if (node.is_complete(a)) continue;
    if (store_.has_prior()) {
      bonuses_[num_edges_ + a] = c_ * std::max(node.priors()[a], epsilon_) * std::sqrt(node_visits);
    }
    if (node.weights()[a] < kLeastWeight) {
      tiny_.emplace_back(num_edges_ + a, edge_log_value(store_, level, node, a) - node.log_scale());
    }
  }
}

void Selection::choose() {
  double* const scores = scores_.data();
  const std::size_t num_edges = padded(num_edges_);
  log_each({scores, num_edges});
  for (const auto& [edge, value] : tiny_) scores[edge] = value;
  for (std::size_t i = 0; i < num_edges; ++i) scores[i] = q_uct(scores[i], bonuses_[i], denominators_[i]);
  const double* next = scores;
  for (std::size_t i = 0; i < num_nodes_; ++i) {
    const Node& node = nodes_[i];
    with_num_states(node.num_states(), [&](auto num_states) {
      node.choice() = static_cast<std::uint32_t>(best_action(next, num_states));
      next += num_states;
    });
  }
  // The padding is computed too: it must stay positive.
  std::fill(scores, scores + num_edges, 1.0);
  tiny_.clear();
  num_nodes_ = 0;
  num_edges_ = 0;
}

template <class NumStates>
int Selection::best_action(const double* scores, NumStates num_states) {
  double best = scores[0];
  for (int a = 1; a < num_states; ++a) best = scores[a] > best ? scores[a] : best;
  const double threshold = best - tie_tolerance(best);
  int chosen = 0;
  for (int a = num_states - 1; a >= 0; --a) chosen = scores[a] >= threshold ? a : chosen;
  if (tie_rule_ == TieRule::kLowest) return chosen;
  int num_ties = 0;
  for (int a = 0; a < num_states; ++a) {
    if (scores[a] >= threshold && ties_.below(++num_ties) == 0) chosen = a;
  }
  return chosen;
}

}  // namespace treesample
