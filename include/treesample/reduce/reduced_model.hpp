// A smaller model that stands for a larger one: some variables are fixed, some states are removed.
//
// Evidence (reduce/evidence.hpp) and simplification (reduce/simplify.hpp) both produce one. Each state of a
// reduced variable is one state of one original variable, so that a reduced configuration is exactly
// one original configuration, with the same density.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct ReducedModel {
  FactorGraph graph;
  std::vector<int> variable_of;             // reduced variable -> original variable
  std::vector<std::vector<int>> states_of;  // reduced variable -> original state of each of its states, rising
  Assignment fixed_states;                  // per original variable: the state it is fixed in, or -1
  std::vector<int> num_original_states;     // per original variable

  // The original configuration for a reduced one.
  [[nodiscard]] Assignment lift(std::span<const int> reduced) const;
  // The marginals of all original variables: a fixed variable is certain, a removed state has probability 0.
  [[nodiscard]] Marginals lift(const Marginals& reduced) const;
  // The reduced configuration for an original one; nothing when it is outside of the reduced model.
  [[nodiscard]] std::optional<Assignment> lower(std::span<const int> original) const;
};

// The model on the states that are left: left[v] lists them for each original variable, rising, at least one. A
// variable with one state is fixed when is_fixed[v] is set (it must not be set with more states). Each factor stays a
// factor: one whose variables are all fixed is a constant. Z is the sum over the configurations that are left.
ReducedModel restrict_model(const FactorGraph& graph, std::vector<std::vector<int>> left,
                            const std::vector<char>& is_fixed);

// An approximation of the reduced model, in terms of the original one: samples are lifted, and what
// lies outside of the reduced model has probability 0.
class LiftedApproximation final : public Approximation {
 public:
  LiftedApproximation(std::shared_ptr<const ReducedModel> model, std::shared_ptr<const Approximation> reduced);
  [[nodiscard]] Assignment sample(Random& random) const override;
  [[nodiscard]] double log_prob(std::span<const int> x) const override;
  [[nodiscard]] ExploredTree explored_tree(std::size_t max_nodes) const override;

 private:
  std::shared_ptr<const ReducedModel> model_;
  std::shared_ptr<const Approximation> reduced_;
};

}  // namespace treesample
