// The space that the search walks through: a pseudo tree over the variables and, for each variable, the context on
// which its sub-problem depends. There are three spaces, which differ only in these data:
//
//   space  pseudo tree                           identity of a node
//   tree   a path, in the given order            the whole prefix     (the paper)
//   graph  a path, in the given order            the context          (+ equal sub-problems merged)
//   andor  branching, from an elimination order  the context          (+ independent components)
//
// Levels are numbered along the order, so parents come before children. A factor belongs to the deepest level of its
// scope (definition 1 of the paper: M_n). With ctx(n) = those ancestors of n that share a factor with n or a descendant
// of n, the soft-Bellman equation (eq. 6) reads
//
//   Q_n(a | x_ctx(n)) = R_n(x_ctx(n), a) + sum over children j of V_j(x_ctx(j))
//   V_n(x_ctx(n))     = log sum_a exp Q_n(a | x_ctx(n)).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "treesample/model/factor_graph.hpp"
#include "treesample/space/order.hpp"

namespace treesample {

enum class SpaceKind { kTree, kGraph, kAndOr };

struct Level {
  int variable = 0;
  int num_states = 1;
  int parent = -1;                  // level, -1 for a root
  std::vector<int> children;        // levels, ascending
  std::vector<int> context;         // levels, ascending; empty in `tree`, where it is the whole prefix
  std::vector<int> factors;         // M_n: the factors whose deepest variable this is
  double log_states_below = 0.0;    // sum of log K_j over all descendants; the paper's (N - n) log K
  double log_context_states = 0.0;  // log of the number of different sub-problems at this level
  // True if two edges can lead to one node, so that a look-up by context can succeed. False exactly if the context is
  // the parent's context and the parent itself.
  bool is_shared = false;
};

// Made by make_search_space. Do not change it by hand: searches and leaf values rely on how its parts fit together.
struct SearchSpace {
  SpaceKind kind = SpaceKind::kTree;
  std::vector<Level> levels;
  std::vector<int> roots;           // levels without parent: one, or one per independent component in `andor`
  double log_constant = 0.0;        // sum of the factors with an empty scope
  double log_constant_error = 0.0;  // of that sum, with each factor known to one unit in the last place
  // FactorGraph::shape() of the graph that the space was made for; and a hash of that shape, the kind and the order,
  // which together determine all the rest.
  std::uint64_t graph_shape = 0, fingerprint = 0;

  [[nodiscard]] int num_levels() const { return static_cast<int>(levels.size()); }
  // Log of the number of reward evaluations that an exact answer takes: sum over n of
  // K_n * (number of contexts of n).
  [[nodiscard]] double log_exact_cost() const;
  // The largest number of variables in a context.
  [[nodiscard]] int width() const;
};

// Throws Error: kArgument unless `order` is a permutation of the variables, kInterrupted if should_stop ends it
// (contexts can be far larger than the model), kResource if the contexts of a path take more than kMostContextBytes.
inline constexpr std::int64_t kMostContextBytes = std::int64_t{4} << 30;
SearchSpace make_search_space(const FactorGraph& graph, std::span<const int> order, SpaceKind kind,
                              const ShouldStop& should_stop = {});

// A copy for callers that need the levels but not their contexts, which take most of the memory.
SearchSpace without_contexts(const SearchSpace& space);

// Every function that takes a graph and a space begins with this check. Throws Error (kArgument) unless the space was
// made for a graph with the same numbers of states and the same scopes. A space refers to the graph's factors by index;
// with any other graph, it would lead to reads out of bounds.
void check_space(const char* function, const FactorGraph& graph, const SearchSpace& space);
// Throws kArgument unless x has one legal state per variable.
void check_assignment(const char* function, const SearchSpace& space, std::span<const int> x);

struct OrderOptions {
  OrderKind kind = OrderKind::kMinFill;
  int restarts = 0;  // randomised greedy runs; 0 chooses by the size of the model
  std::uint64_t seed = 0;
  ShouldStop should_settle = {};  // ends with the best order so far; the first order is always completed
  ShouldStop should_stop = {};    // ends even the first order, with Error (kInterrupted)
  TellShare progress = {};        // share of the restarts
};

// An order for searching. Greedy orders are run `restarts` times with random ties; the one whose
// space has the lowest exact cost is kept.
std::vector<int> search_order(const FactorGraph& graph, SpaceKind kind, const OrderOptions& options);

}  // namespace treesample
