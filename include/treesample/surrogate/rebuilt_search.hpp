// Memory short, search on (the paper's section 3.3): a tree that is full is compiled into Q_phi
// (surrogate/compiled_value.hpp), given back, and rebuilt under it.
//
//   tree 0 under Q_phi -> full -> compiled -> tree 1 under that -> full -> compiled -> ...
//
// Which of the trees is best is known by samples of each: the mean of log gamma(x) - log P_X(x) is log Z less its KL to
// the target, whatever log Z is. A round begins while budget and time are left for two, so that the best tree can be
// built again if the last one is not it; two rounds in a row that are no better are the last ones.
#pragma once

#include <vector>

#include "treesample/tree/tree_sample.hpp"

namespace treesample {

struct RebuiltSearchOptions {
  TreeSearchOptions tree;  // of the first tree
  double later_c = 0.3;    // of the others: this share of c, with the bonus (N - n) log K
  int num_samples = 4096;  // that a tree is compiled along; nothing is evaluated for them
  int num_judged = 200;    // samples of each tree that are evaluated, out of the budget

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
  TreeSearchReport report;         // of all trees together; the number of nodes is that of the last
  std::vector<RebuiltTree> trees;  // in the order in which they were built; empty when none was full
  int best = 0;                    // which of them the answer is
};

// As tree_sample as long as there is memory. With functions in the graph it stops when there is none: what they cost is
// more than memory.
RebuiltSearchResult rebuilt_search(const FactorGraph& graph, const SearchSpace& space, const LeafValues& leaves,
                                   const Limits& limits, const RebuiltSearchOptions& options = {},
                                   const Observer& observer = {});

}  // namespace treesample
