// What mini-buckets will be, before any of their tables is made.
#pragma once

#include "treesample/value/mini_bucket.hpp"

namespace treesample {

// Their i-bound, number of clusters, whether they are exact, and bytes; nothing else of the report is set. Throws Error
// as making them does.
MiniBucketReport plan_mini_buckets(const FactorGraph& graph, const SearchSpace& space,
                                   const MiniBucketOptions& options = {});

}  // namespace treesample
