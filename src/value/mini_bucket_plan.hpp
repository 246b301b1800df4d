// The tables that weighted mini-buckets consist of, decided from the scopes alone.
//
// The bucket of level n holds the factors of M_n and the messages that were sent to n. It is split into clusters
// (mini-buckets) of at most i + 1 variables; a factor or message that is larger than that has a cluster of its own. A
// cluster sums out the variable of its level and sends a message over the rest of its scope to the deepest level there,
// so the clusters form a forest.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "treesample/model/factor_graph.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/stop.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {

struct MiniBucketPlan {
  struct Cluster {
    int level = 0;
    int parent = -1;               // the cluster that receives the message; -1 if the message is a constant
    std::vector<int> scope;        // variables by ascending level; the last one is the variable of `level`
    std::vector<int> factors;      // of M_n
    std::vector<int> children;     // clusters whose messages come here
    std::vector<int> shift_scope;  // the variables that the cost shift may depend on; empty: no shift

    [[nodiscard]] std::span<const int> separator() const { return {scope.data(), scope.size() - 1}; }
  };
  // Clusters of one bucket whose scopes all contain `scope`. Their moments on it should agree.
  struct Match {
    std::vector<int> scope;
    std::vector<int> clusters;
  };
  struct Bucket {
    int first = 0;  // its clusters are first, ..., first + count - 1
    int count = 0;
    std::vector<Match> matches;
  };

  int i_bound = 0;
  std::vector<Cluster> clusters;  // in the order of elimination: from the last level to the first
  std::vector<Bucket> buckets;    // by level
  // Bytes of all tables that exist at the same time while one bound is made, and of those that stay. They are doubles,
  // because they can exceed every integer.
  double peak_bytes = 0.0;
  double kept_bytes = 0.0;

  // True if each bucket has one cluster, which is plain elimination.
  [[nodiscard]] bool is_exact() const { return clusters.size() == buckets.size(); }
  // The lower bound is made while the tables of the upper bound are kept.
  [[nodiscard]] double needed_bytes(bool with_lower) const {
    return peak_bytes + (with_lower && !is_exact() ? kept_bytes : 0.0);
  }
};

// `should_stop` ends it with Error (kInterrupted).
MiniBucketPlan make_mini_bucket_plan(const FactorGraph& graph, const SearchSpace& space, int i_bound,
                                     const ShouldStop& should_stop = {});

// True if there will be a lower bound: it must be asked for, and the model must have no zeros.
bool has_lower_plan(const FactorGraph& graph, const MiniBucketOptions& options);
// The plan for the requested i-bound, or for the largest one that fits. Throws Error (kResource) if none does.
MiniBucketPlan choose_mini_bucket_plan(const FactorGraph& graph, const SearchSpace& space,
                                       const MiniBucketOptions& options);

}  // namespace treesample
