// The two bounds of weighted mini-buckets: one after the other, or side by side where there are many threads. The
// numbers are the same.
#pragma once

#include <memory>

#include "treesample/value/mini_bucket.hpp"
#include "value/mini_bucket_passes.hpp"
#include "value/mini_bucket_plan.hpp"

namespace treesample {

struct MiniBucketSides {
  std::unique_ptr<MiniBucketPasses> upper;
  std::unique_ptr<MiniBucketPasses> lower;  // null where there is none, or no time for it
  double peak_bytes = 0.0;                  // of tables that existed at the same time
};

// Keeps references to graph and plan. Both bounds end as the options say, and throw Error (kInterrupted) accordingly.
MiniBucketSides make_mini_bucket_sides(const FactorGraph& graph, const MiniBucketPlan& plan,
                                       const MiniBucketOptions& options);

}  // namespace treesample
