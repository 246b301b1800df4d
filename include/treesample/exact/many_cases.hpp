// Exact answers for many cases of evidence on one model: log Z, and the joint distributions that are asked for.
//
// Cases in which the same variables are observed share all work that does not depend on the states: the part of the
// model that matters (reduce/model_part.hpp), cut by the observed variables, an order, and messages without evidence.
// Several of them are computed at once (exact/kept_elimination.hpp). They are sorted by their states, so that equal
// cases are computed once and neighbours share messages. Kinds of cases that are rare share a model in which evidence
// is a weight of 0 for all other states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "treesample/math/log_bounds.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/reduce/evidence.hpp"
#include "treesample/stop.hpp"

namespace treesample {

struct ManyCasesOptions {
  // The joint distributions that are asked for, each of different variables.
  std::vector<std::vector<int>> asked = {};
  int threads = 1;
  double most_entries = 1e9;                      // of the buckets of one case
  std::size_t most_bytes = std::size_t{4} << 30;  // for all threads
  std::uint64_t seed = 0;
};

struct CaseSums {
  // False where elimination takes more than the options allow, where rounding may have lost digits, and where nothing
  // is possible: the rest then means nothing.
  bool is_known = false;
  double log_z = 0.0;
  LogBounds bounds;  // certified
};

class ManyCases {
 public:
  // The graph, which must outlive the object, has only tables; otherwise throws Error (kArgument).
  ManyCases(const FactorGraph& graph, const ManyCasesOptions& options);
  ~ManyCases();
  ManyCases(const ManyCases&) = delete;
  ManyCases& operator=(const ManyCases&) = delete;

  // All joint states of one asked distribution after the other.
  [[nodiscard]] std::size_t num_probabilities() const;
  // Fills sums[i], and row i of probabilities, for each case. A variable is observed once, or has weights once. Throws
  // Error (kInterrupted) when asked to stop.
  void solve(std::span<const Observations> cases, std::span<CaseSums> sums, std::span<double> probabilities,
             const ShouldStop& should_stop = {});

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace treesample
