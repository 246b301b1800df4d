// A smaller model that stands for a larger one: some variables are fixed, some states are removed.
//
// Evidence (reduce/evidence.hpp) and simplification (reduce/simplify.hpp) both produce one. Each state of a reduced
// variable is one state of one original variable. So each reduced configuration is exactly one original configuration,
// with the same density.
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
  std::vector<std::vector<int>> states_of;  // reduced variable -> original state of each of its states, ascending
  Assignment fixed_states;                  // per original variable: the state in which it is fixed, or -1
  std::vector<int> num_original_states;     // per original variable

  // The original configuration that corresponds to a reduced one.
  [[nodiscard]] Assignment lift(std::span<const int> reduced) const;
  // The marginals of all original variables: a fixed variable is certain, a removed state has probability 0.
  [[nodiscard]] Marginals lift(const Marginals& reduced) const;
  // The reduced configuration that corresponds to an original one; none if that is outside of the reduced model.
  [[nodiscard]] std::optional<Assignment> lower(std::span<const int> original) const;
};

// The model on the remaining states: left[v] lists them for each original variable, ascending, at least one. A variable
// with one state is fixed if is_fixed[v] is set (it must not be set for a variable with more states). Each factor stays
// a factor; if all its variables are fixed, it is a constant. Z is the sum over the remaining configurations.
ReducedModel restrict_model(const FactorGraph& graph, std::vector<std::vector<int>> left,
                            const std::vector<char>& is_fixed);

// An approximation of the reduced model in terms of the original one: samples are lifted, and configurations outside of
// the reduced model have probability 0.
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
