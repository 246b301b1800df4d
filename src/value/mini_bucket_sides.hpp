// The two bounds of weighted mini-buckets: computed one after the other, or side by side if there are many threads. The
// numbers are the same.
#pragma once

#include <memory>

#include "treesample/value/mini_bucket.hpp"
#include "value/mini_bucket_passes.hpp"
#include "value/mini_bucket_plan.hpp"

namespace treesample {

struct MiniBucketSides {
  std::unique_ptr<MiniBucketPasses> upper;
  std::unique_ptr<MiniBucketPasses> lower;  // null if it was not asked for, is impossible, or found no time
  double peak_bytes = 0.0;                  // of tables that existed at the same time
};

// Keeps references to the graph and the plan. `options` say when both bounds end; they throw Error (kInterrupted)
// accordingly.
MiniBucketSides make_mini_bucket_sides(const FactorGraph& graph, const MiniBucketPlan& plan,
                                       const MiniBucketOptions& options);

}  // namespace treesample
