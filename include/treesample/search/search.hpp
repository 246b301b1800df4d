// A search that can be stopped at any moment and then has log Z between two certified bounds.
//
// It backs values up by the same equation as tree_sample, in any of the spaces, but each node carries three values, L
// <= V <= U with L <= log Z(sub-problem) <= U, and expanding a node evaluates all its edges at once, because an edge
// without a value would leave U unchanged. L and U come from leaf values at sub-problems that have not been searched
// (value/leaf_value.hpp). L never falls and U never rises, so the values of a shared node may be out of date without
// being wrong.
//
//   selection   at a node                                        at independent components
//   gap         the most unresolved mass exp(U) - exp(L)         the largest U - L
//   q-uct       the paper's rule (eq. 7) on V and Q_phi          the largest U - L
//   mass        the most unresolved mass exp(V) - exp(L)         the largest V - L
//
// The mass rule is for factors of which only the evaluated values are known: U may be +inf and L the mass of complete
// configurations. A level without factors of its own costs nothing under this rule, and a traversal continues below the
// node that it expanded, drawing edges by their unresolved mass, until a function has been called (in a model of
// tables: a factor looked up). Unless it is given an estimate, the search then learns V from the rewards that it sees
// (value/calibrated_value.hpp) and brings the values of all its nodes up to date from time to time. At the end V is set
// to the value that P_V attains, see docs/methods/mass.md.
//
// In a model with zeros, most of a best-first search can pass without one complete configuration. So while L is still
// -inf, every few traversals continue as a dive: depth-first along the best V, into all components, back from dead
// ends, until L is finite.
//
// When memory runs out, the expansions with the least mass left to resolve are given back: their nodes keep
// their bounds and are searched again if they matter.
//
// A graph whose evaluation queue has several workers is searched with that many evaluations under way: nodes that
// wait for their rewards count as visited and are not chosen. With one worker the search is the sequential one,
// to the bit. Dives are made only when nothing else is under way. When a factor fails permanently, the search ends
// with the answer so far.
//
// With Limits::threads above 1, the gap rule, only tables, no budget and no estimates, that many threads search, each
// in a store of its own, and the bits of the answer depend on their number. Several threads then call leaf values at
// once.
//
// docs/methods/search.md has the derivation and says what is certified.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/math/log_bounds.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/space/answer_order.hpp"
#include "treesample/space/limits.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/stop.hpp"
#include "treesample/store/store_approximation.hpp"
#include "treesample/tree/tree_sample.hpp"
#include "treesample/value/leaf_value.hpp"

namespace treesample {

class BoundStore;

enum class SelectRule { kGap, kQUct, kMass };

struct SearchOptions {
  SelectRule select = SelectRule::kGap;
  double c = 1.0;                   // weight of exploration in Q-UCT and in the mass rule
  double epsilon = 0.1;             // least scale of its bonus in Q-UCT
  TieRule ties = TieRule::kLowest;  // of Q-UCT
  // A traversal continues below the node that it expanded, because backing up its path costs more than an expansion,
  // and the gap that the next traversal would choose is seldom much wider. With the mass rule it is always 1, because
  // there evaluations are the main cost.
  int expansions_per_traversal = 8;
  int dive_interval = 4;  // one in so many traversals may continue as a dive; 0: never
  // Searched first, each down to the last level: a possible configuration makes L finite from the start.
  std::vector<Assignment> first_configurations = {};
  std::uint64_t seed = 0;         // of the edges that the mass rule draws
  double seconds_per_node = 0.0;  // of the time limit, reserved for the caller's own work on every node afterwards
  int observer_interval = 4096;   // traversals between two reports of progress
  // When the graph's evaluation queue has several workers: rewards are used as they arrive, or in the order in
  // which they were asked for, which gives the same bits every time.
  AnswerOrder answer_order = AnswerOrder::kArrival;
  // With several threads: expansions per thread before the work is shared, and traversals before the threads exchange
  // results; 0 stands for some milliseconds, after which results depend on the threads' speeds.
  int expansions_before_sharing = 256;
  int traversals_per_round = 0;

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

struct SearchReport : StoreReport {
  std::int64_t num_dives = 0;
  std::int64_t num_collapses = 0;
  std::int64_t num_recalibrations = 0;
  std::uint64_t num_expansions = 0;
  int num_threads = 1;  // that searched
};

struct SearchResult {
  std::shared_ptr<const BoundStore> store;
  LeafValues leaves;  // those given, and the calibrated estimate if there is one
  SearchReport report;
  std::vector<double> reward_rounding;  // by level: of a reward R at most this plus 2^-52 (m + 1) |R|, m factors
};

// The graph is not needed after the call. The observer is told the progress before anything is searched, then between
// traversals. Its should_stop is asked in every long operation, including the passes over all nodes at the end.
SearchResult search(const FactorGraph& graph, const SearchSpace& space, const LeafValues& leaves, const Limits& limits,
                    const SearchOptions& options = {}, const Observer& observer = {});

}  // namespace treesample
