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
#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "treesample/error.hpp"
#include "treesample/math/log_bounds.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/search/approximation.hpp"
#include "treesample/space/budget.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/value/value_function.hpp"

namespace treesample {

enum class TieRule {
  kLowest,  // the lowest action
  kRandom,  // any of them, from the stream "ties" of the seed
};

struct SearchOptions {
  std::int64_t budget = 10'000;
  BudgetUnit budget_unit = BudgetUnit::kReward;
  double c = 1.0;        // weight of exploration in Q-UCT
  double epsilon = 0.1;  // least scale of the exploration bonus
  TieRule ties = TieRule::kLowest;
  std::uint64_t seed = 0;
  double time_limit_seconds = std::numeric_limits<double>::infinity();
  std::size_t memory_limit_bytes = std::size_t{4} << 30;
  int observer_interval = 0;  // traversals between two calls of the observer; 0 chooses by the kind of factors

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

enum class StopReason {
  kExact,
  kRounding,  // nothing is left to search, but rounding leaves log Z less certain than LogBounds::kExact
  kBudget,
  kTime,
  kMemory,
  kGap,
  kInterrupted,
  kFactorFailed,  // the graph's evaluation queue gave a factor up; the report has its error
};
const char* to_string(StopReason reason);

struct SearchReport {
  StopReason stop = StopReason::kBudget;
  std::optional<Error> error = {};  // of kFactorFailed
  LogBounds log_z;                  // certified; anything is possible until everything is searched
  Spending spent;
  std::int64_t num_traversals = 0;
  std::uint64_t num_nodes = 0;  // blocks in the store
  std::size_t used_bytes = 0;   // bytes of those blocks
  double search_seconds = 0.0;
};

struct SearchProgress {
  Spending spent;
  double log_z = 0.0;  // current estimate
  std::uint64_t num_nodes = 0;
  double seconds = 0.0;
};

// Called now and then, after so many traversals; returning false ends the search with the answer so far.
using SearchObserver = std::function<bool(const SearchProgress&)>;

struct SearchResult {
  SearchApproximation approximation;
  SearchReport report;
};

// `prior` null means the uniform one. The graph is not needed after the call.
SearchResult tree_sample(const FactorGraph& graph, const SearchSpace& space, const SearchOptions& options,
                         std::shared_ptr<const ValueFunction> prior = nullptr, const SearchObserver& observer = {});

}  // namespace treesample
