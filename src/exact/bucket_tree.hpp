// What belongs to which bucket when variables are eliminated in an order (treesample/exact/elimination.hpp).
#pragma once

#include <span>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct BucketTree {
  struct Bucket {
    std::vector<int> separator;  // first removed first
    std::vector<int> factors;    // that belong to v: the first of their scope to be removed
    std::vector<int> children;   // the variables whose messages go to v

    // The last removed variable first, v itself last.
    [[nodiscard]] std::vector<int> scope_ending_with(int v) const {
      std::vector<int> scope(separator.rbegin(), separator.rend());
      scope.push_back(v);
      return scope;
    }
  };

  BucketTree(const FactorGraph& graph, std::span<const int> order);

  std::vector<Bucket> buckets;  // by variable
  std::vector<int> constants;   // factors without variables
  std::vector<int> time;        // of removal, by variable
};

}  // namespace treesample
