// The separator, factors and children of each bucket, for a plan of elimination (treesample/exact/elimination.hpp).
#pragma once

#include <vector>

#include "treesample/exact/elimination.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct BucketTree {
  struct Bucket {
    std::vector<int> separator;  // in the order of removal
    std::vector<int> factors;    // of v: those whose first variable to be removed is v
    std::vector<int> children;   // the variables whose messages go to v

    // The separator from the last removed variable to the first, then v.
    [[nodiscard]] std::vector<int> scope_ending_with(int v) const {
      std::vector<int> scope(separator.rbegin(), separator.rend());
      scope.push_back(v);
      return scope;
    }
  };

  BucketTree(const FactorGraph& graph, const EliminationPlan& plan);

  std::vector<Bucket> buckets;  // by variable
  std::vector<int> constants;   // factors without variables
  std::vector<int> time;        // of removal, by variable
};

}  // namespace treesample
