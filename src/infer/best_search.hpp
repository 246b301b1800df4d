// The most probable configuration of a model of tables: good configurations by local search, and the proof by branch
// and bound with soft consistency, in turns. Max-product elimination follows once these have done as much work as it
// would take, and a best-first search with mini-buckets after a part of the time.
#pragma once

#include <functional>
#include <optional>
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
  // The last way to a proof, which works to the end that it is given; nothing where it could not begin.
  std::function<std::optional<MapResult>(const Configuration& best, double seconds)> by_buckets = {};
  std::function<void(const Configuration& best, double log_upper)> tell = {};
};

struct BestFound {
  Configuration best;           // no states where none is known
  double log_upper = HUGE_VAL;  // certified: of the log density of every configuration
};

BestFound search_best(const FactorGraph& graph, const Run& run, const BestRequest& request);

struct SeveralFound {
  std::vector<Configuration> best;  // the best first
  double log_upper = HUGE_VAL;      // certified: of the log density of every other one
  bool is_done = false;
};

// The k best by the same search, which then keeps all variables; nothing where not as many possible ones are found
// around the best one. For that many steps at most, and to the end of the request.
std::optional<SeveralFound> search_several(const FactorGraph& graph, const BestRequest& request, int k,
                                           double most_steps);

}  // namespace treesample
