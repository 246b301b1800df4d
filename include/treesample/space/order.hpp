// Orders of the variables: the order in which the search assigns them, or in which elimination removes them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "treesample/model/factor_graph.hpp"
#include "treesample/stop.hpp"

namespace treesample {

class Random;

enum class OrderKind {
  kGiven,     // 0, 1, ..., N - 1
  kDegree,    // the paper's heuristic for FACTOR GRAPHS 1: variables of the widest factors first
  kMinFill,   // reverse of a greedy elimination order that adds the fewest edges
  kMinWidth,  // reverse of a greedy elimination order that removes the variable with fewest neighbours
};

// neighbours[v] = the variables that share a factor with v, sorted, without v itself.
using Adjacency = std::vector<std::vector<int>>;
Adjacency adjacency_of(const FactorGraph& graph);

// The paper's heuristic: go through the factors by descending degree (ties: lower index first) and append their
// variables that are not there yet; variables without factors come last.
std::vector<int> degree_order(const FactorGraph& graph);

struct EliminationWatch {
  // Called before each variable is removed, with its current neighbours. If it returns false, the result is the order
  // so far.
  std::function<bool(int variable, std::span<const int> neighbours)> goes_on = {};
  ShouldStop should_stop = {};  // ends with Error (kInterrupted)
};

// How greedy orders are varied. The best of many varied orders is far better than the greedy one.
struct OrderVariation {
  // A score is multiplied by 1 + noise * u. u is uniform in [0, 1) and drawn again whenever the score changes.
  double noise = 0.0;
  // For min-fill: an added edge counts as the product of the weights of its two variables. All weights are 1 if this is
  // empty; each is at most 2^15.
  std::vector<int> weights = {};
};

// Greedy elimination order by min-fill or min-width. `ties` draws among equally good variables; the
// same stream gives the same order.
std::vector<int> elimination_order(const Adjacency& adjacency, OrderKind kind, Random& ties,
                                   const EliminationWatch& watch = {}, const OrderVariation& variation = {});

// The result of eliminating in this order: for each variable v the neighbours it has when it is removed (all removed
// later), sorted by time of removal. Its bucket table is over v and separator[v]. `should_stop` ends it with Error
// (kInterrupted).
std::vector<std::vector<int>> separators(const Adjacency& adjacency, std::span<const int> elimination_order,
                                         const ShouldStop& should_stop = {});

}  // namespace treesample
