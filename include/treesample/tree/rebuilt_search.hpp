// Continues a search that has little memory (the paper's section 3.3): a tree whose memory is full is compiled into
// Q_phi (tree/compiled_value.hpp), freed, and rebuilt with that Q_phi.
//
//   tree 0 with Q_phi -> full -> compiled -> tree 1 with the new Q_phi -> full -> compiled -> ...
//
// Samples of each tree show which is best: the mean of log gamma(x) - log P_X(x) is log Z minus the KL to the target,
// and log Z is the same for all of them. A round begins only if budget and time are left for two rounds, so that the
// best tree can be built again if it is not the last one. The search ends after two rounds in a row without
// improvement.
#pragma once

#include <vector>

#include "treesample/tree/tree_sample.hpp"

namespace treesample {

struct RebuiltSearchOptions {
  TreeSearchOptions tree;  // of the first tree
  double later_c = 0.3;    // for the others: c times this, with the bonus (N - n) log K
  int num_samples = 4096;  // samples along which a tree is compiled; nothing is evaluated for them
  int num_judged = 200;    // samples of each tree that are evaluated, at the expense of the budget

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

struct RebuiltTree {
  double elbo = 0.0;   // mean of log gamma - log P_X; impossible samples count as 100 nats below V(root)
  double error = 0.0;  // standard error of that
  Spending spent;
};

struct RebuiltSearchResult {
  TreeApproximation approximation;
  TreeSearchReport report;         // of all trees together; the number of nodes is that of the last tree
  std::vector<RebuiltTree> trees;  // in the order in which they were built; empty if none became full
  int best = 0;                    // the tree that gives the answer
};

// The same as tree_sample as long as there is memory. If the graph has functions, it stops when the memory is full,
// because function values cost more than memory.
RebuiltSearchResult rebuilt_search(const FactorGraph& graph, const SearchSpace& space, const LeafValues& leaves,
                                   const Limits& limits, const RebuiltSearchOptions& options = {},
                                   const Observer& observer = {});

}  // namespace treesample
