// The path of one traversal, with what its backup multiplies.
//
// With E the scales of the nodes, the weight of an edge is its multiplier times the sum of the weights
// of its child on the path:
//
//   exp(R + E_child + E_others - E) * (product of the others' sums) * (sum of the child's weights),
//
// where "others" are the edge's components off the path. Below the last edge all children are others.
// All multipliers are known before the backup begins, so that their exponentials are taken together.
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

  // Appends an edge. What its multiplier needs is noted here, where a traversal waits for one node after
  // the other to come from memory, and not in a second pass over the nodes.
  void add(const Step& step) {
    const int i = length_++;
    steps_[i] = step;
    log_multipliers_[i] = step.node.rewards()[step.action] - step.node.log_scale();
    multipliers_[i] = 1.0;
    if (i > 0) log_multipliers_[i - 1] += step.node.log_scale();
  }

  // The multipliers, once the path ends and its last edge is expanded: NaN where they leave their range.
  // The edge is then to be refreshed from its children.
  const double* multiply_out();
  void invalidate_multiplier(std::size_t i) { multipliers_[i] = NAN; }

 private:
  void add_components(int i);

  const NodeStore& store_;
  bool has_components_ = false;  // more than one child somewhere
  int length_ = 0;
  std::vector<Step> steps_;
  std::vector<double> log_multipliers_;
  std::vector<double> multipliers_;
};

}  // namespace treesample
