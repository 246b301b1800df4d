// The path of one traversal, with what its backup multiplies.
//
// With E the exponents of the nodes, the weight of an edge is its multiplier times the sum of the weights
// of its child on the path:
//
//   exp(R) 2^(E_child + E_others - E) * (product of the others' sums) * (sum of the child's weights),
//
// where "others" are the edge's components off the path. Below the last edge all children are others.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "search/node_store.hpp"

namespace treesample {

// One edge of the path from a root to the expansion.
struct Step {
  Node node;
  int level;
  int action;
};

class SearchPath {
 public:
  explicit SearchPath(const NodeStore& store);

  [[nodiscard]] int length() const { return length_; }
  [[nodiscard]] std::span<const Step> steps() const { return {steps_.data(), static_cast<std::size_t>(length_)}; }
  void clear() { length_ = 0; }

  // Appends an edge. The multiplier of the one before is made here, where a traversal waits for one node
  // after the other to come from memory, and not in a second pass over the nodes.
  void add(const Step& step) {
    const int i = length_++;
    steps_[i] = step;
    if (i > 0) {
      const auto& [node, level, action] = steps_[i - 1];
      multipliers_[i - 1] = scale_by_power(node.factors()[action], step.node.exponent() - node.exponent());
    }
  }

  // The multipliers, once the path ends and its last edge is expanded: NaN or infinite where they leave their
  // range. The edge is then to be refreshed from its children.
  const double* multiply_out();
  void invalidate_multiplier(std::size_t i) { multipliers_[i] = NAN; }

  // Notes at each node the one that the next traversal through it comes to after the child, once all choices are made.
  // When the nodes outgrow the caches, a traversal is a chain of waits for memory, each for the node that tells where
  // the next one is; with the notes two waits run side by side.
  void leave_hints() const;

 private:
  void multiply_components(int i);

  const NodeStore& store_;
  bool has_components_ = false;  // more than one child somewhere
  int length_ = 0;
  std::vector<Step> steps_;
  std::vector<double> multipliers_;
};

}  // namespace treesample
