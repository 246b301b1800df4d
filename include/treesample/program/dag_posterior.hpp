// The posterior distribution over the structure of a Bayesian network, exactly, by program/dag_layers.hpp:
//
//   p(G) = exp(sum over nodes v of score[v][parents of v in G]) / Z
//
//   const DagPosterior posterior = dag_posterior(bge_scores(rows));
//   posterior.edges[u][v]       the probability of the edge from u to v
#pragma once

#include <cstdint>
#include <vector>

#include "treesample/math/log_bounds.hpp"
#include "treesample/program/dag_layers.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

struct Dag {
  std::vector<std::uint32_t> parents;  // of each node, as bits
  double log_score = 0.0;
  double log_prob = 0.0;
};

struct DagPosterior {
  double log_z = 0.0;
  LogBounds bounds;                              // of log Z, certified: rounding included
  std::vector<std::vector<double>> edges;        // [from][to]
  std::vector<std::vector<double>> parent_sets;  // [node][set]: the probability that these are its parents
  Dag best;                                      // no graph has a higher score, but for rounding
  std::vector<Dag> samples;                      // independent, exact
  std::int64_t num_states = 0;
  double seconds = 0.0;
};

struct DagQuestion {
  int samples = 0;
  std::uint64_t seed = 0;
};

// Of the limits it uses seconds and bytes. Throws Error (kResource) where they do not suffice, (kInterrupted) where the
// observer ends it, and (kArgument) where no graph is possible.
DagPosterior dag_posterior(DagScores scores, const DagQuestion& question = {}, const Limits& limits = {},
                           const Observer& observer = {});

// The graph of the highest score, by dynamic programming over sets of nodes (Silander and Myllymaki 2006).
Dag best_dag(const DagScores& scores);

// Log marginal likelihoods of the columns of a table, `rows` with the same number of values each, for 1 to
// DagLayers::kMostNodes columns.
//
// BGe, for real numbers: a normal distribution with a normal-Wishart prior (Geiger and Heckerman 1994, in the form of
// Kuipers, Moffa and Heckerman 2014) with weight alpha_mu of the prior mean, which is that of the data, alpha_w =
// number of columns + alpha_mu + 1 degrees of freedom, and T = t I with t = alpha_mu (alpha_w - columns - 1) /
// (alpha_mu + 1).
struct BgeOptions {
  double alpha_mu = 1.0;
};
DagScores bge_scores(const std::vector<std::vector<double>>& rows, const BgeOptions& options = {});

// BDeu, for states from 0: Dirichlet priors that are together worth `equivalent_sample_size` rows (Heckerman, Geiger
// and Chickering 1995). A column has as many states as its largest entry says, or as `num_states` says.
struct BdeuOptions {
  double equivalent_sample_size = 1.0;
  std::vector<int> num_states = {};
};
DagScores bdeu_scores(const std::vector<std::vector<int>>& rows, const BdeuOptions& options = {});

}  // namespace treesample
