// The soft-Bellman equation for L, U and V at once: a node's values from those of its edges.
//
//   X(c, a) = R(c, a) + sum over the children j of X(c_j),     X(c) = log sum_a exp X(c, a)      X = L, U, V
//
// Values of one edge lie side by side, so that one vector instruction serves all three.
#pragma once

#include <cstddef>
#include <vector>

#include "search/bound_store.hpp"
#include "treesample/search/anytime_search.hpp"

namespace treesample {

class EdgeBounds {
 public:
  // Estimates that are learned stay free above: while a level is unknown, they lack what U has of it.
  explicit EdgeBounds(const SearchSpace& space, bool has_free_estimates = false);

  // The edges of an expanded node. An edge that is not evaluated has its estimate and no bounds.
  void gather(const BoundStore& store, int level, const BoundNode& node);
  // X(c) from the edges gathered last: L and U widened by their rounding error, and never worse than what
  // the node has already; V within them, or free above. Sets the complete flag.
  void back_up(BoundNode& node);

  [[nodiscard]] int num_states() const { return num_states_; }
  // Neither complete nor waiting for rewards: the search can go there.
  [[nodiscard]] bool is_open(int action) const { return is_open_[action]; }
  [[nodiscard]] double lower(int action) const { return values_[action][kLower]; }
  [[nodiscard]] double upper(int action) const { return values_[action][kUpper]; }
  [[nodiscard]] double estimate(int action) const { return values_[action][kEstimate]; }

  // After back_up: the open edge with the most unresolved mass exp(U) - exp(L), the lowest of those that are equal
  // up to rounding; -1 when there is none.
  [[nodiscard]] int widest() const;

 private:
  enum Lane { kLower, kUpper, kEstimate, kMagnitude, kNumLanes };
  using Lanes = double[kNumLanes];
  struct alignas(32) Edge {
    Lanes lanes;
    double& operator[](int lane) { return lanes[lane]; }
    double operator[](int lane) const { return lanes[lane]; }
  };

  bool has_free_estimates_;
  int num_states_ = 0;
  int num_terms_ = 0;  // of the sum that makes an edge's value
  std::vector<Edge> values_, weights_;
  std::vector<char> is_complete_, is_open_;
  Edge largest_, log_sum_;
};

// Largest U - L first, or V - L; of equal ones, such as infinite ones, the component with the fewest variables. -1 when
// all are complete or pending.
class ComponentRule {
 public:
  ComponentRule(const SearchSpace& space, bool has_upper);
  [[nodiscard]] int choose(const BoundStore& store, std::span<const int> levels, const NodeIndex* links) const;

 private:
  std::vector<int> num_below_;  // variables, by level
  bool has_upper_;
};

// Log of the sum of the roots' values and the constant; widened outward.
LogBounds root_bounds(const BoundStore& store);
double root_estimate(const BoundStore& store);
bool is_solved(const BoundStore& store);

}  // namespace treesample
