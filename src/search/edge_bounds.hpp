// The soft-Bellman equation for L, U and V at once: a node's values from those of its edges.
//
//   exp X(c, a) = exp R(c, a) prod over the children j of exp X(c_j),     exp X(c) = sum_a exp X(c, a)      X = L, U, V
//
// in numbers, without a logarithm (search/bound_values.hpp). One factor per level bounds all rounding errors together,
// see see_rewards(): L and U are moved outward by it. The entries of factors are taken to be known to one unit in the
// last place.
#pragma once

#include <vector>

#include "search/bound_store.hpp"
#include "treesample/search/search.hpp"

namespace treesample {

class EdgeBounds {
 public:
  // Learned estimates may exceed U: as long as a level is unknown, they lack what U has of it.
  explicit EdgeBounds(const SearchSpace& space, bool has_free_estimates = false);

  // Before edges are backed up, their rewards must have been seen, and the tables for what they can add up to.
  // A magnitude is the sum of those of the tables' sum and of the functions; 0 where there are no functions.
  void see_factors(const FactorGraph& graph, const SearchSpace& space);
  void see_rewards(int level, std::span<const double> rewards, std::span<const double> magnitudes);
  // Takes over what another object, for the same space and factors, has seen.
  void see_rewards(const EdgeBounds& other);
  // By level: the rounding error of a reward that comes from cancellation.
  [[nodiscard]] std::vector<double> reward_rounding() const;
  // Backs up an expanded node: X(c) from its edges, which can be read afterwards.
  void back_up(const BoundStore& store, int level, BoundNode& node) {
    if (back_up_pair(store, level, node)) return;
    gather(store, level, node);
    back_up(node);
  }
  // Its steps. First, the edges of an expanded node.
  void gather(const BoundStore& store, int level, const BoundNode& node);
  // Then X(c) from them: L and U are moved outward by their rounding error and never become worse than the node's; V is
  // within them, or free above. Sets the complete flag.
  void back_up(BoundNode& node);
  // Both steps for the most common node: two edges with one child each, whose values have the same units. Reads nothing
  // from memory that was just written. Returns false and does nothing for any other node.
  bool back_up_pair(const BoundStore& store, int level, BoundNode& node);

  [[nodiscard]] int num_states() const { return num_states_; }
  // The edge is neither complete nor waiting for rewards.
  [[nodiscard]] bool is_open(int action) const { return is_open_[action] != 0; }
  [[nodiscard]] int num_open() const { return num_open_; }
  // -1 when no edge is open.
  [[nodiscard]] int last_open() const { return last_open_; }
  [[nodiscard]] const BoundValues& values(int action) const { return values_[action]; }

  // After back_up: log V of an edge, up to a constant common to all edges.
  [[nodiscard]] double relative_log_estimate(int action) const { return summands_[action].log_estimate_in_unit(); }

  // After back_up: the open edge with the most unresolved mass exp(U) - exp(L), the lowest of those that are equal up
  // to rounding. Pre: an edge is open.
  [[nodiscard]] int widest() const;

 private:
  // The relative error of a level's sums of products: from the exponentials of rewards, the products, the sums, and the
  // rewards, which are sums of factors themselves.
  struct Rounding {
    double num_terms = 0.0;
    double num_factors = 0.0;
    double cancelling = 0.0;            // half of what can cancel when the tables of a reward are added up
    double cancelling_functions = 0.0;  // the same when the functions are added to that sum
    double most_reward = 0.0;           // the largest |R| that is kept as an exponential
    double error = 0.0;
    Outward outward;

    void update();
  };
  [[nodiscard]] BoundValues exp_reward(double factor) const;
  void gather_edge(const BoundStore& store, const Expansion& expansion, std::span<const int> children, int action);
  void set_open(int action, bool is_open) {
    is_open_[action] = is_open ? 1 : 0;
    num_open_ += is_open ? 1 : 0;
    last_open_ = is_open ? action : last_open_;
  }

  bool has_free_estimates_;
  std::vector<Rounding> rounding_;  // by level
  int level_ = 0;
  int num_states_ = 0;
  bool is_complete_ = false;  // all edges are
  std::vector<BoundValues> values_, aligned_;
  const BoundValues* summands_ = nullptr;  // values_ or aligned_
  std::vector<char> is_open_;
  int num_open_ = 0, last_open_ = -1;
};

// Chooses the component with the largest U - L, or V - L; among equal ones, such as infinite ones, that with the fewest
// variables. -1 when all are complete or pending.
class ComponentRule {
 public:
  ComponentRule(const SearchSpace& space, bool has_upper);
  [[nodiscard]] int choose(const BoundStore& store, std::span<const int> levels, const NodeIndex* links) const;

 private:
  std::vector<int> num_below_;  // number of variables, by level
  bool has_upper_;
};

// The log of the product of the roots' values and the constant, rounded outward.
LogBounds root_bounds(const BoundStore& store);
double root_estimate(const BoundStore& store);
bool is_solved(const BoundStore& store);
// True when nothing is known to be possible.
bool has_no_lower(const BoundStore& store);

}  // namespace treesample
