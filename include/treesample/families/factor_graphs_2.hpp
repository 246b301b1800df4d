// FACTOR GRAPHS 2: binary variables in pairs, NOT within a pair, MAJORITY between pairs.
//
//   NOT(a, b)       = scale [a != b]                          for the variables 2i and 2i + 1 of each pair
//   MAJORITY(x_1..) = scale [enough of them are in state 1]   for each clique of a random graph of the pairs
//
// The paper counts states and variables from 1: its state 2 is our state 1, its X_{2i+1} our variable 2i.
//
// How the paper's sentences are read:
// - "half or more nodes in its neighborhood are 2": at least half in the literal reading (mean log Z 44.7); MORE than
//   half (strict_majority) in the best reading (39.9), which is closer to the paper's results.
// - "connected to either X_{2n+1} or X_{2(n+1)}": a fair coin per clique and pair.
// - "edge probability p = 3 log(N/2)/N": natural logarithm, N the number of variables, the graph's nodes the
//   N/2 pairs; edge_probability replaces the formula.
// - Cliques, max_clique and max_attempts: as in factor_graphs_1.hpp.
// - "output values of all factors were also scaled by 2.0": scale, for NOT and MAJORITY alike.
//
// Factors: N/2 of kind "not", then those of kind "majority", in lexicographic order of their pairs.
#pragma once

#include "treesample/families/family.hpp"

namespace treesample {

struct FactorGraphs2Options {
  int n = 20;                                   // even
  std::optional<double> edge_probability = {};  // none: 3 log(n / 2) / n
  int max_clique = 4;
  bool every_clique = false;
  bool strict_majority = false;
  double scale = 2.0;
  int max_attempts = 1000;
};

FactorGraphs2Options factor_graphs_2_options(Reading reading);
FamilyInstance make_factor_graphs_2(const FactorGraphs2Options& options, std::uint64_t seed,
                                    std::uint64_t instance = 0);

}  // namespace treesample
