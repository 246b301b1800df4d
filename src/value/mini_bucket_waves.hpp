// Which buckets and clusters are independent of each other.
#pragma once

#include <vector>

#include "treesample/model/factor_graph.hpp"
#include "value/block_team.hpp"
#include "value/mini_bucket_plan.hpp"

namespace treesample {

// Buckets of the same height need none of each other's messages, and clusters of the same depth none of each other's
// moments. With one thread every bucket and cluster is a wave of its own, in the order of the plan, because the inputs
// of the next one are then often still in the cache.
struct MiniBucketWaves {
  MiniBucketWaves() = default;
  MiniBucketWaves(const FactorGraph& graph, const MiniBucketPlan& plan, int num_threads);

  std::vector<BlockWave> forward;   // of levels: from the leaves up
  std::vector<BlockWave> backward;  // of clusters: from the roots down
  double num_entries = 0.0;         // of all clusters
};

}  // namespace treesample
