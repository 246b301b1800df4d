// Which buckets and clusters do not need each other.
#pragma once

#include <vector>

#include "treesample/model/factor_graph.hpp"
#include "value/block_team.hpp"
#include "value/mini_bucket_plan.hpp"

namespace treesample {

// Buckets of the same height do not need each other's messages, clusters of the same depth not each other's moments.
// One thread goes through them in the order of the plan, where what is next is still in the cache.
struct MiniBucketWaves {
  MiniBucketWaves() = default;
  MiniBucketWaves(const FactorGraph& graph, const MiniBucketPlan& plan, int num_threads);

  std::vector<BlockWave> forward;   // of levels: from the leaves up
  std::vector<BlockWave> backward;  // of clusters: from the roots down
  double num_entries = 0.0;         // of all clusters
};

}  // namespace treesample
