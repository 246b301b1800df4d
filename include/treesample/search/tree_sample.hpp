// TreeSample (Buesing, Heess, Weber 2019), Algorithm 2, in the three spaces of space/search_space.hpp.
//
// From the root, each traversal chooses edges by Q-UCT (eq. 8) until it reaches one that has not been
// evaluated, pays for one reward R_n, gives the new node the values of the prior Q_phi, and backs the
// values up with the soft-Bellman equation (eq. 7). Edges below which everything is evaluated are
// complete and never chosen again; when the root is complete the answer is exact and the search stops.
//
// Cost: one reward evaluation per traversal, except those that only discover that a shared
// sub-problem was completed elsewhere. Differences from the paper's text: docs/departures.md, 1 to 11.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "treesample/model/factor_graph.hpp"
#include "treesample/search/approximation.hpp"
#include "treesample/space/limits.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/value/value_function.hpp"

namespace treesample {

enum class TieRule {
  kLowest,  // the lowest action
  kRandom,  // any of them, from the stream "ties" of the seed
};

struct SearchOptions {
  double c = 1.0;        // weight of exploration in Q-UCT
  double epsilon = 0.1;  // least scale of the exploration bonus
  TieRule ties = TieRule::kLowest;
  std::uint64_t seed = 0;
  int observer_interval = 0;  // traversals between two reports of progress; 0 chooses by the kind of factors

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

// Bounds are certified once everything is searched.
struct SearchReport : RunReport {
  double estimate = 0.0;  // V(root): of log Z
  std::int64_t num_traversals = 0;
  std::uint64_t num_nodes = 0;  // blocks in the store
  std::size_t used_bytes = 0;   // bytes of those blocks
};

struct SearchResult {
  SearchApproximation approximation;
  SearchReport report;
};

// `prior` null means the uniform one. Of the limits it uses the budget, `seconds` and `bytes`. The graph is not needed
// after the call.
SearchResult tree_sample(const FactorGraph& graph, const SearchSpace& space, std::shared_ptr<const ValueFunction> prior,
                         const Limits& limits, const SearchOptions& options = {}, const Observer& observer = {});

}  // namespace treesample
