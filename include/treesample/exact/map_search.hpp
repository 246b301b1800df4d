// The most probable states of some variables, with all others summed out (marginal MAP); or, for all variables, the
// most probable configurations. A best-first search with mini-bucket bounds, and with certified bounds at any time.
//
// Let M be the variables in question, y their states, and S(y) the sum of gamma_hat over the x that agree with y; the
// largest log S(y) is wanted. Variables are eliminated in an order in which M comes last, from buckets as in
// exact/elimination.hpp. A bucket whose table would be too large is split into clusters c,
//
//   x_v not in M   lambda_c = w log sum over x_v of exp(F_c / w), w = 1 / number of clusters   (Hoelder: >= the sum)
//   x_v in M       lambda_c = max over x_v of F_c                                     (>= the maximum of the sum)
//
// after the largest entries of each state of v were made equal in all clusters, which does not change their sum. Given
// states of those variables of M that are eliminated last, the sum of their own factors and of all messages to them is
// then an upper bound f of log S(y) for all y that agree with these states. The search extends the states with the
// largest f, and now and then dives from there to a complete y. Without a split f is exact, no other states are ever
// extended, and the y come out in the order of their S, which gives the k best. Where the open states do not fit into
// the memory, the search is depth first.
//
// Errors: every table operation is off by less than (inputs + states + 16) eps (magnitudes that were added up), and f
// by the sum of these over all buckets and levels; bounds are widened by that.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "treesample/math/log_bounds.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

struct MapOptions {
  std::vector<int> variables = {};        // M; empty: all
  int k = 1;                              // how many of the best
  std::uint64_t seed = 0;                 // of the order
  std::vector<int> order = {};            // of elimination, M last; empty: looked for
  std::vector<Assignment> first = {};     // configurations of the whole model that are known to be good
  std::size_t bucket_bytes = SIZE_MAX;    // for messages, where that is less than half of the memory
  double log_error = 0.0;                 // differences of log S in the model that the graph stands for are off by this
  std::int64_t max_expanded = INT64_MAX;  // a limit that is the same on every machine
  // Certified bounds of log S(y), used where the buckets of the other variables are split; states are by the index in
  // M. Empty: elimination within the memory; a y for which that does not fit has no lower bound.
  std::function<LogBounds(const std::vector<int>& variables, const std::vector<int>& states)> log_sum = {};
};

struct MapResult {
  struct Found {
    std::vector<int> states;  // of the variables, in their order
    LogBounds log_value;      // certified: of log S
  };
  std::vector<int> variables;  // M
  std::vector<Found> best;     // at most k, the largest lower bound first; none where Z = 0
  double log_upper = 0.0;      // certified: for every y
  // Certified up to kTolerance: no y that is not in `best` is better than its last, and none is better than its first.
  bool is_done = false;
  bool is_exact_heuristic = false;  // no bucket was split
  std::int64_t num_expanded = 0;

  // No y is better than the first one by more than this.
  [[nodiscard]] double gap() const;
  static constexpr double kTolerance = 1e-6;  // what counts as rounding, in nats
};

// Of the limits it uses `bytes`; `observer.should_stop` ends it with the result so far. Throws Error: kArgument for a
// function among the factors, an unknown variable and one that is named twice; kInterrupted when it is stopped before
// the buckets are done.
MapResult map_search(const FactorGraph& graph, const Limits& limits = {}, const MapOptions& options = {},
                     const Observer& observer = {});

}  // namespace treesample
