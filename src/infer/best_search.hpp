// The most probable configuration of a model of tables: good configurations by local search, and the proof by branch
// and bound with soft consistency and by best-first search with mini-buckets, in turns.
#pragma once

#include <functional>
#include <vector>

#include "infer/run.hpp"
#include "treesample/exact/map_search.hpp"
#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct BestRequest {
  std::vector<Assignment> first = {};  // configurations that are known
  std::uint64_t seed = 0;
  int threads = 1;
  std::size_t bytes = std::size_t{1} << 30;
  double begin = 0.0, end = HUGE_VAL;      // in seconds of the run; without an end, work is limited by counts
  std::function<bool()> should_stop = {};  // also where there is no end
  // The third way to a proof, which works to the end that it is given; nothing where it could not begin.
  std::function<std::optional<MapResult>(const Configuration& best, double seconds)> by_buckets = {};
  std::function<void(const Configuration& best, double log_upper)> tell = {};
};

struct BestFound {
  Configuration best;           // no states where none is known
  double log_upper = HUGE_VAL;  // certified: of the log density of every configuration
};

BestFound search_best(const FactorGraph& graph, const Run& run, const BestRequest& request);

}  // namespace treesample
