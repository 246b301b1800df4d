#include "search/selection.hpp"

#include <algorithm>
#include <cmath>

#include "search/q_uct.hpp"
#include "search/soft_bellman.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/vector_math.hpp"

namespace treesample {
namespace {

// Below this a weight has lost bits; its logarithm is then taken from the edge itself.
constexpr double kLeastWeight = 1e-300;

}  // namespace

Selection::Selection(const NodeStore& store, const SearchOptions& options)
    : store_(store), c_(options.c), epsilon_(options.epsilon), tie_rule_(options.ties), ties_(options.seed, "ties") {
  for (const Level& level : store.space().levels) bonus_.push_back(c_ * std::max(level.log_states_below, epsilon_));
}

// Unrolled for the usual numbers of states; kStates = 0 is the general case.
template <int kStates>
void Selection::add_edges(int level, const Node& node) {
  const int num_states = kStates > 0 ? kStates : node.num_states();
  double* const scores = &scores_[num_edges_];
  double* const bonuses = &bonuses_[num_edges_];
  double* const denominators = &denominators_[num_edges_];
  double node_visits = 1.0;  // the visit that created the node, then one per edge visit
  for (int a = 0; a < num_states; ++a) {
    denominators[a] = 1.0 + node.visits(a);
    node_visits += node.visits(a);
  }
  const double sqrt_visits = std::sqrt(node_visits);
  double least = 1.0;
  for (int a = 0; a < num_states; ++a) {
    scores[a] = node.weights()[a];
    least = std::min(least, scores[a]);
    bonuses[a] = node.is_complete(a) ? kNegInf : bonus_[level] * sqrt_visits;
  }
  if (store_.has_prior()) {
    for (int a = 0; a < num_states; ++a) {
      if (!node.is_complete(a)) bonuses[a] = c_ * std::max(node.priors()[a], epsilon_) * sqrt_visits;
    }
  }
  if (least >= kLeastWeight) return;
  for (int a = 0; a < num_states; ++a) {
    if (scores[a] >= kLeastWeight || node.is_complete(a)) continue;
    tiny_.emplace_back(num_edges_ + a, edge_log_value(store_, level, node, a) - node.log_scale());
  }
}

void Selection::add(int level, const Node& node) {
  const int num_states = node.num_states();
  if (scores_.size() < padded(num_edges_ + num_states)) {
    scores_.resize(2 * padded(num_edges_ + num_states), 1.0);
    bonuses_.resize(scores_.size(), 0.0);
    denominators_.resize(scores_.size(), 1.0);
  }
  switch (num_states) {
    case 2:
      add_edges<2>(level, node);
      break;
    case 3:
      add_edges<3>(level, node);
      break;
    case 4:
      add_edges<4>(level, node);
      break;
    case 5:
      add_edges<5>(level, node);
      break;
    default:
      add_edges<0>(level, node);
  }
  entries_.push_back({node, num_edges_});
  num_edges_ += num_states;
}

void Selection::choose() {
  log_each({scores_.data(), padded(num_edges_)});
  for (const auto& [edge, value] : tiny_) scores_[edge] = value;
  double* const scores = scores_.data();
  for (std::size_t i = 0; i < num_edges_; ++i) scores[i] = q_uct(scores[i], bonuses_[i], denominators_[i]);
  for (const Entry& entry : entries_) {
    entry.node.choice() = static_cast<std::uint32_t>(best_action(&scores_[entry.first], entry.node.num_states()));
  }
  entries_.clear();
  tiny_.clear();
  num_edges_ = 0;
}

int Selection::best_action(const double* scores, int count) {
  double best = kNegInf;
  for (int a = 0; a < count; ++a) best = std::max(best, scores[a]);
  const double threshold = best - tie_tolerance(best);
  int chosen = 0;
  for (int a = count - 1; a >= 0; --a) chosen = scores[a] >= threshold ? a : chosen;
  if (tie_rule_ == TieRule::kLowest) return chosen;
  int num_ties = 0;
  for (int a = 0; a < count; ++a) {
    if (scores[a] >= threshold && ties_.below(++num_ties) == 0) chosen = a;
  }
  return chosen;
}

}  // namespace treesample
