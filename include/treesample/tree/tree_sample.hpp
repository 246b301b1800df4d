// TreeSample (Buesing, Heess, Weber 2019), Algorithm 2: the tree search, in the space `tree`.
//
// From the root, each traversal chooses edges by Q-UCT (eq. 7) until it reaches one that has not been evaluated, pays
// for one reward R_n, gives the new node the values Q_phi, and backs the values up with the soft-Bellman equation (eq.
// 6). Edges below which everything is evaluated are complete and never chosen again; when the root is complete the
// answer is exact and the search stops.
//
// Cost: one reward evaluation per traversal. docs/departures.md, 1 to 10, lists the differences from the paper's text;
// examples/literal_tree_sample.hpp is a transcription that is meant to be read. For the paper's rule in the spaces
// `graph` and `andor` see search/q_uct_search.hpp.
#pragma once

#include <cstdint>
#include <memory>

#include "treesample/model/factor_graph.hpp"
#include "treesample/space/known_path.hpp"
#include "treesample/space/limits.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/tree/tree_approximation.hpp"
#include "treesample/value/leaf_value.hpp"

namespace treesample {

enum class TieRule {
  kLowest,  // the lowest action
  kRandom,  // any of them, from the stream "ties" of the seed
};

// The scale of the exploration bonus in Q-UCT.
enum class BonusScale {
  kQPhi,       // max(Q_phi(a), epsilon): eq. 7
  kLogStates,  // max(log_states_below, epsilon), (N - n) log K instead of Q_phi, whatever the leaf value. Adding a
               // constant to a factor then changes no decision of a search whose leaf value includes the constant
};

struct TreeSearchOptions {
  double c = 1.0;        // weight of exploration in Q-UCT
  double epsilon = 0.1;  // least scale of the exploration bonus
  BonusScale bonus = BonusScale::kQPhi;
  TieRule ties = TieRule::kLowest;
  std::uint64_t seed = 0;
  int observer_interval = 0;  // traversals between two reports of progress; 0: chosen by their time
  // If true, every report of progress has the certified lower bound of log Z from the configurations that are evaluated
  // by then. It is kept while the search goes on; tree/evaluated_mass.hpp computes the same from a finished one.
  bool reports_bounds = false;
  // The tree has the edges of these paths before the search begins, as if it had chosen them, at no cost. May be null.
  std::shared_ptr<const KnownPaths> known = {};

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

// Bounds of log Z are certified once everything is searched. num_nodes counts the nodes that have a block of their own.
using TreeSearchReport = StoreReport;

struct TreeSearchResult {
  TreeApproximation approximation;
  TreeSearchReport report;
};

// Q_phi is the estimate of `leaves`, or the paper's default (UniformValue) if `leaves` has none. Of `limits`, it uses
// the budget, `seconds` and `bytes`. The graph is not needed after the call. Throws Error (kArgument) if the space is
// not `tree`.
TreeSearchResult tree_sample(const FactorGraph& graph, const SearchSpace& space, const LeafValues& leaves,
                             const Limits& limits, const TreeSearchOptions& options = {},
                             const Observer& observer = {});

}  // namespace treesample
