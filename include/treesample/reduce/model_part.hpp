// The part of a model that matters for some of its variables.
//
// All barren variables (reduce/summed_model.hpp) but those are left out. In a Bayesian network the others are these
// variables and their ancestors. Whether a table sums to a constant is found out once, for all parts.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

// Some variables and factors of a model, whose Z is that of the model when it is multiplied by a constant.
struct ModelPart {
  std::vector<int> variables;  // ascending, and so are the factors
  std::vector<int> factors;
  double log_constant = 0.0;
  double log_slack = 0.0;  // the constant is known up to this
};

class ModelParts {
 public:
  // The graph must outlive it.
  explicit ModelParts(const FactorGraph& graph);
  ~ModelParts();
  ModelParts(const ModelParts&) = delete;
  ModelParts& operator=(const ModelParts&) = delete;

  // Z is the same whatever is known of these variables, which all are in the part.
  ModelPart with(std::span<const int> variables);

 private:
  struct Known;
  const FactorGraph* graph_;
  std::unique_ptr<Known> known_;
};

}  // namespace treesample
