// Exact answers about the tables of a model within a box: the sum of exp(tables), a sample, marginals, the most
// probable configuration.
//
// Variables that no table couples to others are summed on their own. The others form components. Each component is
// eliminated again for each box, with the states outside of the box made impossible.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "monotone/box.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/math/random.hpp"

namespace treesample {

class TableMasses {
 public:
  explicit TableMasses(const FactorGraph& graph);

  // log sum over the box of exp(sum of the tables); off by at most log_error().
  [[nodiscard]] double log_mass(const Box& box) const;
  [[nodiscard]] double log_error() const {
    return log_error_ + static_cast<double>(components_.size()) * component_error_;
  }
  // An upper bound of the largest sum of the tables within the box; it is exact if no table couples variables.
  [[nodiscard]] double log_most(const Box& box) const;
  // A configuration of the box with a large sum of tables; it is the largest if no table couples variables.
  [[nodiscard]] Assignment likely(const Box& box) const;
  [[nodiscard]] Assignment sample(const Box& box, Random& random) const;
  // Marginals of all variables within the box.
  [[nodiscard]] Marginals marginals(const Box& box) const;
  // The sum of the tables at x.
  [[nodiscard]] double log_tables(std::span<const int> x) const;
  // log probabilities of the states of a variable in the whole model of tables.
  [[nodiscard]] const std::vector<double>& log_probabilities(int v) const { return log_probabilities_[v]; }

 private:
  struct Component {
    std::vector<int> variables;  // of the model
    FactorGraph graph;
    EliminationPlan plan;
  };
  [[nodiscard]] Elimination eliminate(const Component& component, const Box& box) const;
  [[nodiscard]] double component_mass(std::size_t index, const Box& box) const;
  [[nodiscard]] const Elimination& sampler(std::size_t index, const Box& box) const;
  [[nodiscard]] static std::string key(const Component& component, const Box& box);

  const FactorGraph* graph_;
  double constant_ = 0.0;
  std::vector<int> alone_;                        // variables that are summed on their own
  std::vector<std::vector<double>> log_weights_;  // by variable, for those alone: sum of their tables, by state
  std::vector<Component> components_;
  std::vector<std::vector<double>> log_probabilities_;
  double log_error_ = 0.0;                // of everything outside of components, and of adding everything up
  mutable double component_error_ = 0.0;  // the largest error of one component
  // By component and box: masses, and the distributions from which samples are drawn.
  mutable std::vector<std::unordered_map<std::string, double>> known_;
  mutable std::vector<std::unordered_map<std::string, Elimination>> samplers_;
};

// Bucket entries of the largest component's elimination, which box_search limits.
double largest_component_entries(const FactorGraph& graph);

}  // namespace treesample
