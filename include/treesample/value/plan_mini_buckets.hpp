// The size of mini-buckets, computed before any of their tables is made.
#pragma once

#include "treesample/value/mini_bucket.hpp"

namespace treesample {

// Sets the i-bound, the number of clusters, whether the mini-buckets are exact, and the bytes; the rest of the report
// stays unset. Throws the same Errors as making them.
MiniBucketReport plan_mini_buckets(const FactorGraph& graph, const SearchSpace& space,
                                   const MiniBucketOptions& options = {});

}  // namespace treesample
