// P_X of a search over boxes: a box is drawn by its mass times the middle of its bounds, then x within it from the
// tables.
#pragma once

#include <memory>
#include <vector>

#include "monotone/box_tree.hpp"
#include "treesample/model/approximation.hpp"

namespace treesample {

// A model together with its boxes, at a fixed address.
struct BoxedModel {
  explicit BoxedModel(const FactorGraph& model) : graph(model), masses(graph), tree(graph, masses) {}
  BoxedModel(const BoxedModel&) = delete;
  BoxedModel& operator=(const BoxedModel&) = delete;

  FactorGraph graph;
  TableMasses masses;
  BoxTree tree;
};

class BoxApproximation final : public Approximation {
 public:
  // All upper bounds of the boxes must be finite, and at least one must be above -inf.
  explicit BoxApproximation(std::shared_ptr<const BoxedModel> model);

  [[nodiscard]] double log_value() const { return log_weights_[0]; }
  [[nodiscard]] Assignment sample(Random& random) const override;
  [[nodiscard]] double log_prob(std::span<const int> x) const override;

  // Marginals. For each variable, also the largest distance of its probabilities from those that the boxes' bounds
  // allow, if logarithms of weights may be off by `rounding`.
  struct BoundedMarginals {
    Marginals middle;
    std::vector<double> errors;
  };
  [[nodiscard]] BoundedMarginals marginals(double rounding) const;

 private:
  std::shared_ptr<const BoxedModel> model_;
  std::vector<double> log_weights_;  // by node
};

}  // namespace treesample
