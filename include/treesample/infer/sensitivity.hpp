// How an answer depends on the numbers of the model, and how informative one more observation would be.
#pragma once

#include <cstddef>
#include <vector>

#include "treesample/reduce/evidence.hpp"

namespace treesample {

// Derivatives of f = P(target | evidence), or of f = log Z, which is log P(evidence) of a Bayesian network, with
// respect to the entries theta of all tables. In a Bayesian network the other entries of theta's row change in
// proportion, so that the row still adds up to 1:
//
//   df / dtheta_i - sum over j != i of (theta_j / (1 - theta_i)) df / dtheta_j
//
// (for theta_i = 1 the others get equal parts). In other models the other entries stay the same.
struct Sensitivity {
  struct Parameter {
    int factor = 0;
    std::size_t entry = 0;
    double value = 0.0;  // theta
    double derivative = 0.0;
  };
  Evidence target;     // one state; empty: f = log Z
  double value = 0.0;  // f
  bool is_network = false;
  std::vector<std::vector<double>> derivatives;  // [factor][entry]
  // The ten with the largest |derivative|, or |theta derivative| where the model is not a network, because theta then
  // has no scale.
  std::vector<Parameter> most_influential;
};

// How informative an observation of each variable would be about the target: the entropy of the target minus its
// expected entropy after the observation, which is their mutual information given the evidence, in nats.
struct ObservationValues {
  struct Value {
    int variable = 0;
    double information = 0.0;
  };
  int target = 0;
  double entropy = 0.0;       // of the target, in nats
  std::vector<Value> values;  // of all variables that are not observed, the largest first
};

}  // namespace treesample
