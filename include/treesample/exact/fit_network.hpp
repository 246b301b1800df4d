// Learns tables of a Bayesian network from data with missing values: maximum likelihood, or the mode with a Dirichlet
// prior, by expectation and maximisation (A. Dempster, N. Laird, D. Rubin: Maximum likelihood from incomplete data via
// the EM algorithm, J. Royal Statistical Society B 39, 1977).
//
//   entry = (expected count of it + pseudo-count) / (the sum of these over its row)
//
// A row of a table that no data are about stays as it was, and so does an entry that is 0.
#pragma once

#include <span>
#include <vector>

#include "treesample/exact/expected_counts.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/stop.hpp"

namespace treesample {

struct FitOptions {
  std::vector<int> parameters = {};  // the factors that are learned; none: all of them
  double prior = 0.0;                // pseudo-counts, added to each entry that is not 0
  // Groups of factors that have the same table; each is among the parameters, and in one group at most.
  std::vector<std::vector<int>> shared = {};
  int iterations = 200;
  double tolerance = 1e-9;  // it ends when an iteration changes the log likelihood by less, relative to its size
  ExpectedCountsOptions counts = {};

  // Throws Error (kArgument) naming what is out of range.
  void validate() const;
};

struct Fitted {
  FactorGraph graph;  // with the new tables
  // Of the data, after 0, 1, ... iterations, with the logarithm of the prior where there is one.
  std::vector<double> log_likelihoods;
  bool is_converged = false;
  std::vector<std::vector<double>> counts;  // expected, by parameter and entry
};

// `rows` have a state for each variable of the graph, or -1 where it is missing; `weights` one number from 0 on per
// row, or none, which is 1 for all. Throws Error: kArgument unless the graph has the form of a Bayesian network, for
// options out of range, and what ExpectedCounts throws; kInterrupted.
Fitted fit_network(const FactorGraph& graph, std::span<const int> rows, std::span<const double> weights = {},
                   const FitOptions& options = {}, const ShouldStop& should_stop = {});

}  // namespace treesample
