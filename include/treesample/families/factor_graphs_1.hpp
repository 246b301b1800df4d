// FACTOR GRAPHS 1: a connected Erdos-Renyi graph over the variables, a random table per clique.
//
// How the paper's sentences are read:
// - "edge probability p = 2 log(N)/N": the natural logarithm; edge_probability replaces the formula.
// - "for each clique": each MAXIMAL clique; every_clique takes all complete sets of two or more nodes.
// - "graphs with cliques of size > 4 were rejected": max_clique; such a graph is drawn again, like one that
//   is not connected, at most max_attempts times (fewer for large N).
// - "d^K values iid from N(0,1)": K^d values. entry_mean is 0 in the text and 1 in the best reading, where log Z
//   grows by the number of factors: on average from 21.2 to 31.7. The paper reports a delta-KL of -28.89 for
//   TreeSample, and delta-KL is at least -log Z: that number cannot come from the text alone.
//
// Factors: kind "table", scopes ascending, in lexicographic order of their scopes. A graph of one node has
// the clique of that node.
#pragma once

#include "treesample/families/family.hpp"

namespace treesample {

struct FactorGraphs1Options {
  int n = 10;
  int k = 5;
  std::optional<double> edge_probability = {};  // none: 2 log(n) / n
  int max_clique = 4;
  bool every_clique = false;
  double entry_mean = 0.0;
  double entry_stddev = 1.0;
  int max_attempts = 1000;
};

FactorGraphs1Options factor_graphs_1_options(Reading reading);
FamilyInstance make_factor_graphs_1(const FactorGraphs1Options& options, std::uint64_t seed,
                                    std::uint64_t instance = 0);

}  // namespace treesample
