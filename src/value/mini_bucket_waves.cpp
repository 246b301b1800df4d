#include "value/mini_bucket_waves.hpp"

#include <algorithm>

namespace treesample {

MiniBucketWaves::MiniBucketWaves(const FactorGraph& graph, const MiniBucketPlan& plan, int num_threads) {
  const auto add = [&](std::vector<BlockWave>& waves, std::size_t place, int piece, std::size_t piece_entries) {
    if (num_threads == 1) place = waves.size();
    if (waves.size() <= place) waves.resize(place + 1);
    waves[place].add(piece, piece_entries);
  };
  std::vector<std::size_t> height(plan.buckets.size(), 0), depth(plan.clusters.size(), 0);
  for (int n = static_cast<int>(plan.buckets.size()) - 1; n >= 0; --n) {
    const MiniBucketPlan::Bucket& bucket = plan.buckets[n];
    std::size_t bucket_entries = 0;
    for (int c = bucket.first; c < bucket.first + bucket.count; ++c) {
      bucket_entries += num_table_entries(graph, plan.clusters[c].scope);
      if (plan.clusters[c].parent < 0) continue;
      std::size_t& above = height[plan.clusters[plan.clusters[c].parent].level];
      above = std::max(above, height[n] + 1);
    }
    num_entries += static_cast<double>(bucket_entries);
    add(forward, height[n], n, bucket_entries);
  }
  for (int c = static_cast<int>(plan.clusters.size()) - 1; c >= 0; --c) {
    if (plan.clusters[c].parent >= 0) depth[c] = depth[plan.clusters[c].parent] + 1;
    add(backward, depth[c], c, num_table_entries(graph, plan.clusters[c].scope));
  }
}

}  // namespace treesample
