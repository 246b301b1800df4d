// The joint distribution of a few variables Q, by one elimination that removes them last.
//
// Any order in which Q is a clique of the model and of what elimination adds to it can be turned into one with the same
// cliques in which Q is last (maximum cardinality search, begun with Q). From the last variable q_k to the first,
//
//   P(x_Q) = product over i of p(x_qi | x_q(i+1), ..., x_qk)
//
// where each factor is read from a bucket (treesample/exact/elimination.hpp). With slices it is the mean over them,
// with weights Z_s / Z. A table over Q itself is never multiplied with anything.
#pragma once

#include <span>
#include <vector>

#include "treesample/exact/elimination.hpp"

namespace treesample {

struct JointTable {
  std::vector<double> probabilities;  // of all joint states, the first variable changing slowest; all 0 where Z = 0
  double width = 0.0;                 // of the bounds of log Z that the same sums give
};

// A plan whose order ends with these variables, which are different; for options.goal kSamples.
EliminationPlan plan_joint(const FactorGraph& graph, std::span<const int> variables, const EliminationOptions& options,
                           const ShouldStop& should_stop = {});

// Throws Error: kInterrupted when should_stop said so. The plan must be of plan_joint() for these variables.
JointTable joint_table(const FactorGraph& graph, std::span<const int> variables, const EliminationPlan& plan,
                       const Limits& limits = {}, const Observer& observer = {});

}  // namespace treesample
